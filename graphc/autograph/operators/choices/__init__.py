"""Values that are one of several, by what tensors hold: None until a tensor says otherwise, the state of a machine."""

__all__: list[str] = []
