-- Triggers leave memories alone that an operation stamps together; all triggers are installed again after this.
UPDATE current_op SET stamping = 1;
