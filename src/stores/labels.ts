import type { LogOrigin } from '../protocol/logPages.ts'
import type { Metadata } from '../protocol/metadata.ts'

/** The name and value of something that lists are filtered by. A key of metadata begins with a letter. */
export type Label = readonly [name: string, value: string]

/** Labels that are no metadata. */
export const above = ':above'
export const parent = ':parent'
export const source = ':source'

/** As labels: numbers, strings and booleans are different values. Pure. */
export const metadataLabels = (metadata: Metadata = {}): Label[] =>
  Object.entries(metadata).map(([key, value]) => [key, JSON.stringify(value)])

/** What an agent is found by. Pure. */
export function labelsOf({ path, forkedFrom, metadata }: Omit<LogOrigin, 'definition' | 'createdAt'>): Label[] {
  const last = path.at(-1)
  return [
    ...path.map((id): Label => [above, id]),
    ...(last === undefined ? [] : [[parent, last] satisfies Label]),
    ...(forkedFrom === undefined ? [] : [[source, forkedFrom] satisfies Label]),
    ...metadataLabels(metadata),
  ]
}

/** The same of a row of the table of agents. */
export const labelsIn = (row: Readonly<Record<string, unknown>>): Label[] => labelsOf(placeIn(row))

/** Where an agent's row says that it comes from. */
export function placeIn(row: Readonly<Record<string, unknown>>): Pick<LogOrigin, 'path' | 'forkedFrom' | 'metadata'> {
  const { path, forked_from: forkedFrom, metadata } = row
  return {
    path: typeof path === 'string' ? (JSON.parse(path) as readonly string[]) : [],
    ...(typeof forkedFrom === 'string' ? { forkedFrom } : {}),
    ...(typeof metadata === 'string' ? { metadata: JSON.parse(metadata) as Metadata } : {}),
  }
}
