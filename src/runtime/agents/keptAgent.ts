import { crc32 } from 'node:zlib'
import type { AgentDefinition } from '../../actors/define/agentDefinition.ts'
import { Conversation } from '../../conversation/tree/conversation.ts'
import { KeptNodes } from './keptNodes.ts'
import { TextHash } from '../../protocol/text/textHash.ts'
import type { TokenCounter } from '../../conversation/limits/tokenCounter.ts'
import { ContextFold, type KeptContext } from '../../machines/rebuildContext.ts'
import type { Checkpoint } from '../../protocol/ports/checkpoints.ts'
import type { LogRecord, RecordOf } from '../../protocol/records.ts'
import type { History } from '../../log/readHistory.ts'
import type { Left } from '../../actors/parts/memory/leftBehind.ts'
import type { KeptFrames } from '../../actors/turn/turnFrames.ts'
import { bodyOf, completed, readBody, sharedIn, without, type WithIds, type SharedState } from './sharedState.ts'
import type { NodePieces } from './keepNodes.ts'
import { takenFold } from '../../conversation/tree/takenTools.ts'
import { type AnyFold, Folding } from '../../log/fold.ts'
import { outlineFold } from '../../log/outline.ts'
import { requestsFold } from '../../log/requestIndex.ts'
import { spentFold } from '../../log/spent.ts'
import { handoffsFold } from './handoffs.ts'

/** Version of the checkpoint format. It must change with every change of the kept state: older checkpoints then count as missing. */
export const checkpointForm = 'agent-11'

/** Stored form of an agent's frames and memory items. */
export interface KeptAsking {
  readonly frames?: KeptFrames | undefined
  /** Parts of the log still to be searched for memory; missing if they were not tracked. */
  readonly left?: readonly Left[] | undefined
}

/** Format of a checkpoint that shares state with others, of the same version. */
const sharingForm = `${checkpointForm}-shared`

/** Everything folded from a log except the nodes of its conversation, as plain JSON. */
export interface KeptState extends WithIds {
  readonly created: RecordOf<'agent.created'>
  /** Token counts of a sample text. With a counter that gives other counts, the sums of the conversation are wrong. */
  readonly counted: readonly number[]
  readonly context: KeptContext
  readonly asking: KeptAsking
}

/** Folds of a log, other than its conversation, that an agent's host knows and its checkpoints keep. */
export const hostFolds: readonly AnyFold[] = [requestsFold, outlineFold, spentFold, handoffsFold, takenFold]

/** Contents of a checkpoint, with the later records folded in. */
interface Base {
  readonly kept: KeptState
  readonly conversation: Conversation
  readonly context: ContextFold
  readonly folds: Folding
  /** `seq` of the checkpoint, and its size in bytes, without the shared part. */
  readonly seq: number
  readonly bytes: number
  readonly shared: SharedState | undefined
}

/** The log of an agent as it is opened: all of it, or the records since its checkpoint. */
export interface OpenedLog extends History {
  /** State before `records`. */
  readonly base?: Base
}

const sample = 'The quick brown fox jumps over 13 lazy dogs: {"a": [1, 2.5, null]}, äöü, 漢字, 🙂.'

export const countedBy = (counter: TokenCounter): readonly number[] => [
  counter.text(sample),
  counter.message({ role: 'user', content: [{ type: 'text', text: sample }], source: 'prompt' }),
]

/** Returns a hash that tells a record from any other, whatever the order of its fields. */
export const digestOf = (record: LogRecord): string => new TextHash().addJson(JSON.parse(JSON.stringify(record))).value

/** Returns true if agents of a definition can continue from checkpoints. Captured requests are only in the log. */
export const isKeepable = ({ captureTurnRequests }: AgentDefinition): boolean => !captureTurnRequests

/** Returns the checkpoint of an agent at a record; `undefined` if it does not continue `shared`, the state that the store keeps apart. */
export function checkpointOf(
  last: LogRecord,
  state: KeptState,
  { table, shared: old, own }: NodePieces,
  shared?: SharedState,
): Checkpoint | undefined {
  const at = (body: Uint8Array) => ({ seq: last.seq, digest: `${digestOf(last)} ${crc32(body)}`, body })
  if (shared === undefined) return { ...at(bodyOf(state, [table, ...old, ...own])), form: checkpointForm }
  const rest = without(shared, state)
  return (
    rest && {
      ...at(bodyOf(rest, [table, ...own])),
      form: sharingForm,
      shared: { id: shared.id, body: shared.body },
    }
  )
}

/** Returns true for bytes that do not have the checksum at the end of a name. Checkpoints of earlier builds have none. */
function isDamaged(named: string, body: Uint8Array): boolean {
  const [, sum] = named.split(' ')
  return sum !== undefined && Number(sum) !== crc32(body)
}

/** Returns true if this version can read a checkpoint. */
export const isReadable = (checkpoint: Checkpoint | undefined): checkpoint is Checkpoint =>
  checkpoint?.form === checkpointForm || checkpoint?.form === sharingForm

/**
 * Returns the contents of a checkpoint. `own`: the log's record that the checkpoint stands at.
 *
 * @throws Error with the reason why the checkpoint cannot be used.
 */
export function keptIn(
  checkpoint: Checkpoint,
  own: LogRecord | undefined,
): { readonly kept: KeptState; readonly nodes: Uint8Array; readonly shared?: SharedState } {
  const { seq, form, digest, body } = checkpoint
  if (!isReadable(checkpoint)) throw new Error('another version made it')
  if (own?.seq !== seq) throw new Error('the log ends before it')
  if (digestOf(own) !== digest.split(' ')[0]) throw new Error('it is of another log')
  if (isDamaged(digest, body)) throw new Error('it is damaged')
  const { head, rest: nodes } = readBody(body)
  const kept = head as KeptState
  if (form === checkpointForm) return { kept, nodes }
  if (kept.shared === undefined || kept.shared.id !== checkpoint.shared?.id)
    throw new Error('what it shares is missing')
  if (isDamaged(kept.shared.id, checkpoint.shared.body)) throw new Error('what it shares is damaged')
  const shared = sharedIn(kept.shared, checkpoint.shared.body)
  return { kept: completed(kept, shared), nodes, shared }
}

/**
 * Returns an agent's state for a definition, from a checkpoint and the records starting with the checkpoint's own.
 *
 * @throws Error with the reason why the log must be read from its beginning.
 */
export function goOnFrom(
  checkpoint: Checkpoint,
  [own, ...records]: readonly LogRecord[],
  definition: AgentDefinition,
): OpenedLog {
  const { seq, body } = checkpoint
  const { kept, nodes: bytes, shared } = keptIn(checkpoint, own)
  const wrong = wrongIn(kept, definition)
  if (wrong !== undefined) throw new Error(wrong)
  const nodes = new KeptNodes(bytes, shared?.nodes)
  if (kept.conversation.overlays.some(({ nodeId }) => nodes.chunkOf(nodeId) < 0))
    throw new Error('a summary is missing')
  const conversation = new Conversation(definition.counter, { state: kept.conversation, nodes })
  const context = new ContextFold(kept.context)
  const folds = new Folding(hostFolds, kept.folds)
  for (const record of records) {
    conversation.apply(record)
    context.apply(record)
    folds.apply(record)
  }
  return {
    created: kept.created,
    past: [],
    records,
    base: { kept, conversation, context, folds, seq, bytes: body.length, shared },
  }
}

/**
 * Returns why a definition cannot use a checkpoint: it lacks state that the definition did not need when it was
 * written. `undefined` if it is usable.
 */
function wrongIn({ counted, asking }: KeptState, { counter, memory }: AgentDefinition): string | undefined {
  if (JSON.stringify(counted) !== JSON.stringify(countedBy(counter))) return 'tokens are counted in another way now'
  const isUnknown = asking.left === undefined && memory?.extract != null
  return isUnknown ? 'the definition needs more of the log now' : undefined
}
