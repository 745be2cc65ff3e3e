"""Controllers of native debuggers: one per debugger, all behind `base.Controller`."""
