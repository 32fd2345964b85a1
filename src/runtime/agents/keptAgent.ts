import type { AgentDefinition } from '../../actors/define/agentDefinition.ts'
import { Conversation } from '../../conversation/tree/conversation.ts'
import type { KeptConversation } from '../../conversation/tree/keptConversation.ts'
import { jsonBytes } from './jsonBytes.ts'
import { KeptNodes } from './keptNodes.ts'
import { TextHash } from '../../protocol/text/textHash.ts'
import type { TokenCounter } from '../../conversation/limits/tokenCounter.ts'
import type { Folding } from '../../log/fold.ts'
import { ContextFold, type KeptContext } from '../../machines/rebuildContext.ts'
import type { Checkpoint } from '../../protocol/ports/checkpoints.ts'
import type { LogRecord, RecordOf } from '../../protocol/records.ts'
import type { History } from '../../log/readHistory.ts'
import { HostFolds } from './hostFolds.ts'
import type { Left } from '../../actors/parts/memory/leftBehind.ts'
import type { KeptFrames } from '../../actors/turn/turnFrames.ts'

/** Version of the form of a checkpoint. It must change with every change of the kept state: older checkpoints then count as missing. */
export const checkpointForm = 'agent-11'

/** Stored form of an agent's frames and memory items. */
export interface KeptAsking {
  readonly frames?: KeptFrames | undefined
  /** Missing where it was not followed. */
  readonly left?: readonly Left[] | undefined
}

/** Everything that is folded from a log but the nodes of its conversation, as plain JSON. */
export interface KeptState {
  readonly created: RecordOf<'agent.created'>
  /** Token counts of a sample: with a counter that gives others, the sums of the conversation are wrong. */
  readonly counted: readonly number[]
  readonly context: KeptContext
  readonly conversation: KeptConversation
  readonly asking: KeptAsking
  /** Stored state of each of the host's folds, by its name. */
  readonly folds: ReturnType<Folding['keep']>
}

/** A checkpoint's contents, with the later records folded in. */
interface Base {
  readonly kept: KeptState
  readonly conversation: Conversation
  readonly context: ContextFold
  readonly folds: HostFolds
  /** `seq` of the checkpoint, and its size. */
  readonly seq: number
  readonly bytes: number
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

/** Tells a record from any other, whatever the order of its fields. */
export const digestOf = (record: LogRecord): string => new TextHash().addJson(JSON.parse(JSON.stringify(record))).value

/** Returns true if agents of a definition can continue from checkpoints: the last captured request is in the log alone. */
export const isKeepable = ({ captureTurnRequests }: AgentDefinition): boolean => !captureTurnRequests

const headBytes = 4

/** The body of a checkpoint: the length of the JSON that follows as 32 bits with the lowest byte first, that, and the pieces of the nodes. */
export function bodyOf(kept: KeptState, nodes: readonly Uint8Array[]): Uint8Array {
  const head = jsonBytes(JSON.stringify(kept))
  let end = headBytes
  const body = new Uint8Array([head, ...nodes].reduce((sum, piece) => sum + piece.length, end))
  new DataView(body.buffer).setUint32(0, head.length, true)
  for (const piece of [head, ...nodes]) {
    body.set(piece, end)
    end += piece.length
  }
  return body
}

/**
 * The contents of a checkpoint; `own`: the record of the log that it stands at.
 *
 * @throws Error, saying why it is of no use.
 */
export function keptIn(
  { seq, form, digest, body }: Checkpoint,
  own: LogRecord | undefined,
): { readonly kept: KeptState; readonly nodes: Uint8Array } {
  if (form !== checkpointForm) throw new Error('another version made it')
  if (own?.seq !== seq) throw new Error('the log ends before it')
  if (digestOf(own) !== digest) throw new Error('it is of another log')
  const length = new DataView(body.buffer, body.byteOffset, body.byteLength).getUint32(0, true)
  const head = body.subarray(headBytes, headBytes + length)
  const kept = JSON.parse(new TextDecoder().decode(head)) as KeptState
  return { kept, nodes: body.subarray(headBytes + length) }
}

/**
 * Returns an agent's state from a checkpoint and the records from the checkpoint's own on, for a definition.
 *
 * @throws Error, saying why the log must be read from its beginning.
 */
export function goOnFrom(
  checkpoint: Checkpoint,
  [own, ...records]: readonly LogRecord[],
  definition: AgentDefinition,
): OpenedLog {
  const { seq, body } = checkpoint
  const { kept, nodes: bytes } = keptIn(checkpoint, own)
  const wrong = wrongIn(kept, definition)
  if (wrong !== undefined) throw new Error(wrong)
  const nodes = new KeptNodes(bytes)
  if (kept.conversation.overlays.some(({ nodeId }) => nodes.chunkOf(nodeId) < 0))
    throw new Error('a summary is missing')
  const conversation = new Conversation(definition.counter, { state: kept.conversation, nodes })
  const context = new ContextFold(kept.context)
  const folds = new HostFolds(kept.folds)
  for (const record of records) {
    conversation.apply(record)
    context.apply(record)
    folds.apply(record)
  }
  return {
    created: kept.created,
    past: [],
    records,
    base: { kept, conversation, context, folds, seq, bytes: body.length },
  }
}

/**
 * Returns why a checkpoint is of no use to a definition: it lacks state that the definition did not need when it was written; `undefined` if it
 * is usable.
 */
function wrongIn({ counted, asking }: KeptState, { counter, memory }: AgentDefinition): string | undefined {
  if (JSON.stringify(counted) !== JSON.stringify(countedBy(counter))) return 'tokens are counted in another way now'
  const isUnknown = asking.left === undefined && memory?.extract != null
  return isUnknown ? 'the definition needs more of the log now' : undefined
}
