import type { NodeId } from '../../protocol/ids.ts'
import { formatNodeId } from '../../protocol/text/nodeIds.ts'
import type { Message, ToolResultMessage } from '../../protocol/messages.ts'
import { countMedia, saidByTool, textOf } from '../../protocol/text/messageText.ts'
import type { Overlay } from '../../protocol/records.ts'
import { lastLine } from '../brakes/evidence.ts'
import { keptNames } from '../../protocol/callEffects.ts'
import { outcomeLine } from '../tree/facts.ts'
import { isLeft, type HiddenSubject } from '../brakes/hiddenSpan.ts'
import type { ConversationNode } from '../tree/node.ts'
import { cutBy } from './overlay.ts'
import { stepOf } from '../brakes/prune/pruneNotes.ts'
import { recallName } from '../tree/stepText.ts'
import type { TokenCounter } from '../limits/tokenCounter.ts'

interface MaskSubject extends HiddenSubject {
  readonly counter: TokenCounter
}

/** Steps that are shown without the content of their results. A step that is hidden later is removed from them. */
export class MaskedSteps {
  /** Estimated tokens that each masked step saves. */
  readonly #saved: Map<NodeId, number>

  constructor(kept: Iterable<readonly [NodeId, number]> = []) {
    this.#saved = new Map(kept)
  }

  keep(): (readonly [NodeId, number])[] {
    return [...this.#saved]
  }

  has(stepId: NodeId): boolean {
    return this.#saved.has(stepId)
  }

  get steps(): Iterable<NodeId> {
    return this.#saved.keys()
  }

  /** Adds steps. Returns the lowest depth of the trunk whose rendering changes. */
  add(steps: readonly NodeId[], subject: MaskSubject): number {
    for (const id of steps) this.#saved.set(id, savedIn(id, subject))
    return firstMasked(steps, subject)?.depth ?? Infinity
  }

  /** Removes steps that have been hidden. */
  drop(steps: readonly NodeId[]): void {
    for (const id of steps) this.#saved.delete(id)
  }

  /** Returns the estimated tokens that masks remove from the trunk. The cost grows with the number of masked steps. */
  saved(subject: HiddenSubject): number {
    let sum = 0
    for (const [id, saved] of this.#saved) if (isLeft(id, subject)) sum += saved
    return sum
  }
}

/** Returns the first result of these steps that a mask changes. */
export function firstMasked(
  steps: readonly NodeId[],
  subject: Pick<HiddenSubject, 'node'>,
): ConversationNode | undefined {
  for (const id of steps) {
    const first = stepOf(id, subject).nodes.find((node) => maskOf(node) !== undefined)
    if (first !== undefined) return first
  }
  return undefined
}

function savedIn(id: NodeId, subject: MaskSubject): number {
  let saved = 0
  for (const node of stepOf(id, subject).nodes) {
    const mask = maskOf(node)
    if (mask !== undefined) saved += node.tokens - subject.counter.message(mask)
  }
  return saved
}

/** Parts of the text in place of a result's content: its size, the way to recall it, and the parts that are kept. */
interface Mask {
  readonly size: string
  readonly recall: string
  readonly kept: readonly string[]
}

/** The part of a node that determines the replacement of its content. */
type ResultNode = Pick<ConversationNode, 'id' | 'message' | 'isIrreversible' | 'reversible'>

const masks = new WeakMap<ResultNode, Mask | null>()

/**
 * Returns a result with a line in place of its content. The last line of an error stays, and so does the outcome of a call that cannot be undone or
 * that its tool could undo. Returns `undefined` for messages that no mask changes: other messages, answers of the runtime in a tool's place (which
 * may contain a person's words), and content that is no longer than the line. Without `canRecall` the line does not name `recall`. It depends on the
 * node alone, so every request shows the same.
 */
export function maskOf(node: ResultNode, canRecall = true): ToolResultMessage | undefined {
  const { message } = node
  if (message.role !== 'toolResult') return undefined
  let mask = masks.get(node)
  if (mask === undefined) masks.set(node, (mask = makeMask(node, message)))
  return mask === null ? undefined : { ...message, content: [{ type: 'text', text: render(mask, canRecall) }] }
}

function makeMask({ id, isIrreversible, reversible }: ResultNode, message: ToolResultMessage): Mask | null {
  const { isError, synthetic, toolName } = message
  if (synthetic !== undefined) return null
  const content = saidByTool(message)
  const said = textOf(content)
  const media = countMedia(content)
  // The line must not change when the call is undone.
  const outcome = isIrreversible === true || reversible !== undefined ? outcomeLine(said) : ''
  const error = isError ? lastLine(said) : ''
  const mask: Mask = {
    size: sizeOf(said.length, media),
    // Recalled text belongs to other steps: it is not read again from here.
    recall: toolName === recallName ? '' : `; recall ${formatNodeId(id)} brings it back`,
    kept: [outcome, outcome.includes(error) ? '' : error, keptApart(message)].filter((line) => line !== ''),
  }
  // With or without `recall`, the same results are masked.
  return media === '' && render(mask, true).length >= said.length ? null : mask
}

/** Returns a line with the kept parts of a result, which can be read however it is hidden; `''` if there are none. */
function keptApart(message: ToolResultMessage): string {
  const names = keptNames(message)
  return names === '' ? '' : `[kept: ${names}]`
}

const render = ({ size, recall, kept }: Mask, canRecall: boolean): string =>
  [`[output hidden: ${size}${canRecall ? recall : ''}]`, ...kept].join('\n')

const sizeOf = (characters: number, media: string): string => {
  const text = characters === 0 ? '' : `${characters.toLocaleString('en')} character${characters === 1 ? '' : 's'}`
  return [text, media].filter((part) => part !== '').join(', ')
}

/** The part of a conversation that determines how much of a message is shown. */
export interface ShownSubject {
  readonly overlay: Overlay | undefined
  readonly annotations: { readonly masked: Pick<MaskedSteps, 'has'> } | undefined
}

/** Returns a message of a visible step as a request shows it: masked, cut short, or unchanged. */
export function shownMessage(
  node: ConversationNode,
  { overlay, annotations }: ShownSubject,
  canRecall?: boolean,
): Message {
  const mask = annotations?.masked.has(node.stepId) === true ? maskOf(node, canRecall) : undefined
  return mask ?? (overlay === undefined ? node.message : cutBy(overlay, node))
}

/** Returns the estimated tokens of the shown part of a message. */
export function tokensOfShown(
  node: ConversationNode,
  subject: ShownSubject & { readonly counter: TokenCounter },
): number {
  const shown = shownMessage(node, subject)
  return shown === node.message ? node.tokens : subject.counter.message(shown)
}

/** Returns the estimated tokens that a mask of a step would free. */
export function freedByMask(
  { nodes }: { readonly nodes: readonly ConversationNode[] },
  subject: ShownSubject & { readonly counter: TokenCounter },
): number {
  let freed = 0
  for (const node of nodes) {
    const mask = maskOf(node)
    if (mask !== undefined) freed += tokensOfShown(node, subject) - subject.counter.message(mask)
  }
  return freed
}
