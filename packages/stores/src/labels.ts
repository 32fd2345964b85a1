import type { LogOrigin, LogQuery } from '../../../src/protocol/ports/logPages.ts'
import type { Metadata } from '../../../src/protocol/metadata.ts'
import { placeIn, type AgentRow } from './agentRow.ts'

/** Name and value by which lists are filtered. Names of metadata labels begin with a letter. */
export type Label = readonly [name: string, value: string]

/** Names of the labels that are not metadata: ancestor, parent and fork source. */
export const above = ':above'
export const parent = ':parent'
export const source = ':source'

/** Converts metadata to labels. Numbers, strings and booleans are different values. Pure. */
export const metadataLabels = (metadata: Metadata = {}): Label[] =>
  Object.entries(metadata).map(([key, value]) => [key, JSON.stringify(value)])

/** Returns the labels by which an agent is found. Pure. */
export function labelsOf({ path, forkedFrom, metadata }: Omit<LogOrigin, 'definition' | 'createdAt'>): Label[] {
  const last = path.at(-1)
  return [
    ...path.map((id): Label => [above, id]),
    ...(last === undefined ? [] : [[parent, last] satisfies Label]),
    ...(forkedFrom === undefined ? [] : [[source, forkedFrom] satisfies Label]),
    ...metadataLabels(metadata),
  ]
}

/** Returns the labels by which the agent in a row is found. */
export const labelsIn = (row: AgentRow): Label[] => labelsOf(placeIn(row))

/** Returns the labels that `query` asks for. Pure. */
export const labelsAsked = ({ metadata, parent: of, forkedFrom }: LogQuery): Label[] => [
  ...metadataLabels(metadata),
  ...(typeof of === 'string' ? [[parent, of] satisfies Label] : []),
  ...(forkedFrom === undefined ? [] : [[source, forkedFrom] satisfies Label]),
]
