import type { Provenance } from '../protocol/events.ts'
import type { Block, Message } from '../protocol/messages.ts'
import type { ModelRequest, ModelSettings, RequestMessage, ToolSpec } from '../protocol/model.ts'
import type { Conversation, ConversationNode } from './conversation.ts'
import { renderSummary, truncateResult } from './overlay.ts'

/** The parts of a request that stay the same for an agent's whole life. */
export interface RequestFrame {
  readonly system: string
  readonly tools: readonly ToolSpec[]
  readonly settings: ModelSettings
}

export interface AssembledRequest {
  readonly request: ModelRequest
  /** One entry for each message of the request. */
  readonly provenance: readonly Provenance[]
}

/**
 * Renders the trunk into a request. It keeps what it rendered, so a turn costs what is new; only a change of the trunk's
 * past (`Conversation.epoch`) makes it start over. A request it gave out is never changed afterwards.
 */
export class RequestAssembler {
  readonly #conversation: Conversation
  readonly #frame: RequestFrame
  readonly #messages: RequestMessage[] = []
  readonly #provenance: Provenance[] = []
  #rendered = 0
  #epoch: number
  #turn = { index: -1, messages: 0 }

  constructor(conversation: Conversation, frame: RequestFrame) {
    this.#conversation = conversation
    this.#frame = frame
    this.#epoch = conversation.epoch
  }

  assemble(): AssembledRequest {
    const { path, epoch } = this.#conversation
    if (epoch !== this.#epoch) this.#startOver(epoch)
    while (this.#rendered < path.length) this.#renderNext(path)
    return {
      request: { ...this.#frame, messages: this.#messages.slice() },
      provenance: this.#provenance.slice(),
    }
  }

  #startOver(epoch: number): void {
    this.#epoch = epoch
    this.#messages.length = 0
    this.#provenance.length = 0
    this.#rendered = 0
    this.#turn = { index: -1, messages: 0 }
  }

  #renderNext(path: readonly ConversationNode[]): void {
    const node = path[this.#rendered]!
    const overlay = this.#conversation.overlay
    if (overlay?.from === node.id) {
      this.#push({ role: 'user', content: [{ type: 'text', text: renderSummary(overlay) }] }, { type: 'summary' })
      for (const id of overlay.kept) this.#renderNode(this.#conversation.node(id)!)
      this.#rendered = this.#conversation.node(overlay.to)!.depth
      return
    }
    const isRecent = overlay !== undefined && node.id > overlay.to && node.id <= overlay.recentTo
    this.#renderNode(node, isRecent ? truncateResult(node.message, overlay.maxToolOutputChars) : node.message)
    this.#rendered += 1
  }

  #renderNode(node: ConversationNode, message: Message = node.message): void {
    const rendered = renderMessage(message)
    if (rendered === undefined) return
    if (node.turnIndex !== this.#turn.index) this.#turn = { index: node.turnIndex, messages: 0 }
    this.#push(rendered, provenanceOf(node, this.#turn.messages++))
  }

  /** Providers want roles to alternate, so neighbouring user messages become one. */
  #push(message: RequestMessage, provenance: Provenance): void {
    const last = this.#messages.at(-1)
    if (last?.role === 'user' && message.role === 'user') {
      this.#messages[this.#messages.length - 1] = { role: 'user', content: [...last.content, ...message.content] }
      return
    }
    this.#messages.push(message)
    this.#provenance.push(provenance)
  }
}

/** Renders a whole conversation once; `RequestAssembler` does the same turn by turn. */
export const assembleRequest = (conversation: Conversation, frame: RequestFrame): AssembledRequest =>
  new RequestAssembler(conversation, frame).assemble()

function provenanceOf(node: ConversationNode, messageIndex: number): Provenance {
  const { role } = node.message
  if (node.message.role === 'user' && node.message.source !== 'prompt') return { type: node.message.source }
  return { type: 'loopTurn', turnIndex: node.turnIndex, role, messageIndex }
}

/** `undefined`: the message has nothing a provider would accept, so it is left out. */
function renderMessage(message: Message): RequestMessage | undefined {
  switch (message.role) {
    case 'user':
      return { role: 'user', content: said(message.content) }
    case 'toolResult':
      return {
        role: 'toolResult',
        callId: message.callId,
        toolName: message.toolName,
        content: message.content.some(isSaid) ? said(message.content) : [{ type: 'text', text: '(no output)' }],
        isError: message.isError,
      }
    case 'assistant': {
      // Thinking of a reply that was cut off has no signature yet, and providers refuse it without.
      const content = message.content.filter(
        (block) => isSaid(block) && (message.stopReason !== 'aborted' || block.type === 'text'),
      )
      if (!content.some((block) => block.type === 'text' || block.type === 'toolCall')) return undefined
      return { role: 'assistant', content: content.some(hasOddInput) ? content.map(withObjectInput) : content }
    }
  }
}

const isSaid = (block: Block): boolean =>
  block.type === 'text'
    ? block.text.trim() !== ''
    : block.type !== 'thinking' || block.text !== '' || block.signature !== undefined

/** The content without blank blocks, which providers refuse; the same array when there are none. */
const said = (content: readonly Block[]): readonly Block[] => (content.every(isSaid) ? content : content.filter(isSaid))

const hasOddInput = (block: Block): boolean =>
  block.type === 'toolCall' && (typeof block.input !== 'object' || block.input === null || Array.isArray(block.input))

/** Arguments that are no JSON object cannot be sent back as they came: no provider accepts them. */
const withObjectInput = (block: Block): Block =>
  block.type === 'toolCall' && hasOddInput(block) ? { ...block, input: { malformed: block.input ?? null } } : block
