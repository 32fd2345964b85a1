import { queueOf } from '../../protocol/brakes/brakeTable.ts'
import type { LogRecord, RecordOf } from '../../protocol/records.ts'
import { stateFold } from '../parts/state/stateFold.ts'
import type { Reshaped } from '../tree/reshaped.ts'
import { compactionFold } from './compaction/compactionFold.ts'
import { graftFold } from './graft/graftFold.ts'
import { copyNotes } from './graft/grafts.ts'
import { pinFold } from './pins/pinFold.ts'
import { policyFold } from './policies/policyFold.ts'
import { pruneFold } from './prune/pruneFold.ts'
import { revertFold } from './revert/revertFold.ts'
import { stallFold } from './stall/stallFold.ts'

const ask = (conversation: Reshaped, record: RecordOf<keyof typeof queueOf>): void =>
  conversation.annotate().ask(record)

/** Functions that apply the records of all brakes to a conversation, by type. */
export const brakeFolds = {
  ...Object.fromEntries(Object.keys(queueOf).map((type) => [type, ask])),
  ...revertFold,
  ...graftFold,
  ...pruneFold,
  ...compactionFold,
  ...pinFold,
  ...stallFold,
  ...policyFold,
  ...stateFold,
} as { readonly [T in LogRecord['type']]?: (conversation: Reshaped, record: LogRecord) => void }

/** Notes of a brake around a step; `''` for most steps. */
export const stepNotes = copyNotes
