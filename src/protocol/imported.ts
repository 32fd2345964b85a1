const importedEnd = '/imported'

/** Returns the run id of the messages that an agent began with. */
export const importedRunId = (agentId: string): string => `${agentId}${importedEnd}`

/** Returns true if a record or a node is one of those that an agent began with. */
export const isImported = ({ runId }: { readonly runId: string }): boolean => runId.endsWith(importedEnd)
