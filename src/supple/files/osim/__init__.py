"""OSIM: musculoskeletal models of OpenSim, their bodies, joints and markers."""
