import { askedKinds } from '../protocol/brakes/brakeTable.ts'
import type { LogRecord } from '../protocol/records.ts'
import { refuse, refuseReshaping } from './brakes.ts'
import { interruptCalls } from './calls.ts'
import { cancelCompaction, refuseCompactions } from './compaction.ts'
import type { Draft } from './draft.ts'
import { cancelConsultation, refusePolicies } from './policies.ts'
import { dropQueues } from './queues.ts'
import { endRun } from './runs.ts'
import { endUndo } from './undoing.ts'

const why = 'the session was imported'

/**
 * Ends everything left open in the past of another party, whose log may claim any approval. The ends are recorded, so
 * that every view of the log shows the same; nothing is written if nothing was open.
 */
export function endForeign(draft: Draft): void {
  const { isCompacting, consulting } = draft.context
  if (isCompacting) cancelCompaction(draft, why)
  if (consulting !== null) cancelConsultation(draft, why)
  endUndo(draft, why)
  interruptCalls(draft)
  refuseReshaping(draft, why)
  refuse(draft, 'pin', why)
  refuseCompactions(draft, why)
  refusePolicies(draft, why)
  dropQueues(draft, ['steering', 'followUps', 'prompts'])
  if (draft.context.run !== null) endRun(draft, 'aborted')
  else if ((draft.context.pausedRun ?? draft.context.failedRun) !== null)
    draft.record({ type: 'run.abandoned', ...draft.at })
  endUse(draft)
  draft.endPast()
}

/** Resets the values in use, which another party chose. */
function endUse(draft: Draft): void {
  const { frame, agentId } = draft.context
  if (frame?.use == null) return
  draft.record({ type: 'use.changed', ...draft.at, requestId: `${agentId}/imported/use`, use: null })
}

/** Returns true if a record ends something and begins nothing. */
export const isEnding = (record: LogRecord): boolean =>
  endings.has(record.type) ||
  (record.type === 'queue.changed' && record.added === undefined) ||
  (record.type === 'use.changed' && record.use === null)

const endings: ReadonlySet<LogRecord['type']> = new Set([
  'tool.end',
  'turn.end',
  'run.end',
  'run.abandoned',
  'compaction.end',
  'policy.end',
  'undo.step',
  'undo.end',
  ...askedKinds.map((kind) => `${kind}.applied` as const),
])
