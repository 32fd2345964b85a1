/** Names of the tools by which a model remembers and looks up. */
export const rememberName = 'remember'
export const recallMemoryName = 'recall_memory'

/** Mark of memories that may come from the output of a tool. */
export const unconfirmedMark = 'UNCONFIRMED'
