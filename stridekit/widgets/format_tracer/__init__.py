"""FormatTracer: a tensor in both memory formats on its way through layers that keep or lose them."""
