"""What requests and answers look like. The OpenAPI description is made from these models."""
