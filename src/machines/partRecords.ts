import type { EventOfType } from './agentTypes.ts'
import type { Draft } from './draft.ts'

/** Makes the records of parts that code, a tool or a timer asks for, in the run and turn under way. */
export function recordParts(draft: Draft, { records }: EventOfType<'record'>): void {
  for (const record of records) draft.record({ ...record, ...draft.at })
}
