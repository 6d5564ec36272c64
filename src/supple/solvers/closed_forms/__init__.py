"""All postures of arms whose axes lie so that formulas give them: recognised, evaluated, polished on the true geometry."""
