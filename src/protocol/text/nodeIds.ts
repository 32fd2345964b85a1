// Apart from the schemas, which browsers do without; `ids.ts` has them too.

export const agentIdPattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/

/** Returns true if `agentIdSchema` accepts the value. It avoids the schema's cost, since every agent id is checked more than once. */
export const isAgentId = (value: unknown): value is string => typeof value === 'string' && agentIdPattern.test(value)

/** Renders a node id the way the model and people see it: `n12`. */
export const formatNodeId = (id: number): string => `n${id}`

/** Parses `n12` or `12`; `undefined` for anything else, including zero. */
export function parseNodeId(text: string): number | undefined {
  const match = /^n?([1-9]\d{0,14})$/.exec(text.trim())
  return match?.[1] === undefined ? undefined : Number(match[1])
}

const importedEnd = '/imported'

export const importedRunId = (agentId: string): string => `${agentId}${importedEnd}`

/** Returns true if a record or a node is part of the history that an agent began with. */
export const isImported = ({ runId }: { readonly runId: string }): boolean => runId.endsWith(importedEnd)
