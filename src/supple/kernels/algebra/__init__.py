"""Dense numerics that know no pack: factors, projections, programmes."""
