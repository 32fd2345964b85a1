import type { Block, PlainBlock } from '../../../../src/index.ts'
import type { RecordedSession } from '../recordedSession.ts'
import { SessionDraft } from './sessionDraft.ts'
import { argumentsOf, asText, imageOf, isObject, type Json, listOf, objectOf, text, textOf, wordsOf } from './shapes.ts'

const kinds = new Set(['SystemPromptEvent', 'MessageEvent', 'ActionEvent', 'ObservationEvent'])

const isEvent = (value: unknown): boolean =>
  isObject(value) &&
  (kinds.has(textOf(value['kind'])) ||
    (typeof value['action'] === 'string' && 'args' in value) ||
    (typeof value['observation'] === 'string' && 'content' in value))

/** Events of OpenHands: a list of actions and observations, the `history` of a result, or, of newer versions, events by `kind`. */
export function openHandsEventsIn(value: unknown): readonly Json[] | undefined {
  const list = Array.isArray(value) ? value : listOf(objectOf(value)['history'])
  return list.some(isEvent) ? list.filter(isObject) : undefined
}

export function readOpenHands(events: readonly Json[], name: string): RecordedSession {
  const draft = new SessionDraft('OpenHands events')
  const reader = new Reader(draft)
  for (const event of events) {
    if ('kind' in event) reader.readKind(event)
    else if (typeof event['observation'] === 'string') reader.readObservation(event)
    else if (typeof event['action'] === 'string') reader.readAction(event)
  }
  return draft.finish(name)
}

/** Actions that only the program takes, or notes to itself. */
const ownActions = new Set([
  'change_agent_state',
  'recall',
  'null',
  'condensation',
  'condensation_request',
  'pause',
  'resume',
])

class Reader {
  readonly #draft: SessionDraft
  /** The response of which the last reply was, and the calls that have no result yet. */
  #response = ''
  #open: string[] = []
  /** Calls by the ids of their events. */
  readonly #ofEvents = new Map<unknown, string>()

  constructor(draft: SessionDraft) {
    this.#draft = draft
  }

  readAction(event: Json): void {
    const { action, source, args: given, id } = event
    const args = objectOf(given)
    const { thought, ...input } = args
    const metadata = objectOf(event['tool_call_metadata'])
    const response = objectOf(metadata['model_response'])
    const message = objectOf(objectOf(listOf(response['choices'])[0])['message'])
    if (action === 'system') {
      this.#draft.system(textOf(args['content']))
      for (const tool of listOf(args['tools'])) this.#tool(objectOf(tool))
    } else if (action === 'condensation') this.#draft.note('compactions were left out: what they replaced is replayed')
    else if (ownActions.has(textOf(action))) return
    else if (action === 'message' && source === 'user')
      this.#draft.user([
        text(textOf(args['content'])),
        ...listOf(args['image_urls']).map((url) => imageOf(textOf(url))),
      ])
    else if (source === 'user') this.#draft.note('what a person did by hand was left out')
    else if (action === 'message') this.#reply('', [text(textOf(args['content']))])
    else if (action === 'finish')
      this.#reply('', [text(textOf(args['final_thought'] ?? args['message']) || wordsIn(message) || 'finished')])
    else {
      const callId = textOf(metadata['tool_call_id']) || `action-${asText(id)}`
      const made = listOf(message['tool_calls'])
        .map(objectOf)
        .find((call) => call['id'] === callId)
      const call: Block = {
        type: 'toolCall',
        callId,
        name: textOf(metadata['function_name']) || textOf(action),
        input: made === undefined ? input : argumentsOf(objectOf(made['function'])['arguments']),
      }
      this.#ofEvents.set(id, callId)
      this.#reply(textOf(response['id']), [text(textOf(thought) || wordsIn(message)), call])
    }
  }

  readObservation(event: Json): void {
    const { observation, content, cause, extras } = event
    const { exit_code: exitCode, metadata, error, success } = { ...event, ...objectOf(extras) }
    const code = exitCode ?? objectOf(metadata)['exit_code']
    const isError =
      observation === 'error' ||
      success === false ||
      (error !== undefined && error !== false && error !== '' && error !== null) ||
      (typeof code === 'number' && code !== 0)
    const named = textOf(objectOf(event['tool_call_metadata'])['tool_call_id'])
    const callId = named || (cause === undefined || cause === null ? this.#open.at(-1) : this.#ofEvents.get(cause))
    // Most have no call: states, and what was recalled.
    if (callId !== undefined && this.#open.includes(callId)) this.#result(callId, [text(asText(content))], isError)
  }

  readKind(event: Json): void {
    const { kind, source, llm_message: given, tool_call_id: id } = event
    const message = objectOf(given)
    switch (kind) {
      case 'SystemPromptEvent':
        this.#draft.system(textOf(objectOf(event['system_prompt'])['text']))
        for (const tool of listOf(event['tools'])) this.#tool(objectOf(tool))
        break
      case 'MessageEvent':
        if (source === 'agent' || message['role'] === 'assistant') this.#reply('', plainBlocks(message['content']))
        else this.#draft.user(plainBlocks(message['content']))
        break
      case 'ActionEvent': {
        const { name, arguments: written, function: made } = objectOf(event['tool_call'])
        const { kind: _, ...input } = objectOf(event['action'])
        const said = written ?? objectOf(made)['arguments']
        this.#reply(textOf(event['llm_response_id']), [
          { type: 'thinking', text: textOf(event['reasoning_content']) },
          ...plainBlocks(event['thought']),
          {
            type: 'toolCall',
            callId: textOf(id) || textOf(event['id']),
            name: textOf(event['tool_name']) || textOf(name) || textOf(objectOf(event['action'])['kind']) || 'unknown',
            input: said === undefined ? input : argumentsOf(said),
          },
        ])
        break
      }
      case 'ObservationEvent': {
        const observation = objectOf(event['observation'])
        const { content, output, is_error: isError } = observation
        this.#result(this.#callOf(event), plainBlocks(content ?? output ?? observation), isError === true)
        break
      }
      case 'AgentErrorEvent':
      case 'UserRejectObservation':
        this.#result(this.#callOf(event), [text(textOf(event['error'] ?? event['rejection_reason']))], true)
        break
      case 'Condensation':
        this.#draft.note('compactions were left out: what they replaced is replayed')
    }
  }

  #callOf({ tool_call_id: id, action_id: action }: Json): string {
    return textOf(id) || textOf(action) || (this.#open.at(-1) ?? '')
  }

  #tool(tool: Json): void {
    const { name, description, parameters } = objectOf(tool['function'] ?? tool)
    if (textOf(name) !== '')
      this.#draft.tool({
        name: textOf(name),
        description: textOf(description),
        inputSchema: { type: 'object', ...objectOf(parameters) },
      })
  }

  /** Calls of one response are one reply, though each is an event; what was said before them comes with each. */
  #reply(response: string, blocks: readonly Block[]): void {
    const calls = blocks.filter((block) => block.type === 'toolCall')
    this.#open.push(...calls.map(({ callId }) => callId))
    if (response !== '' && response === this.#response) this.#draft.more(calls)
    else this.#draft.reply(blocks)
    this.#response = response
  }

  #result(callId: string, content: readonly PlainBlock[], isError: boolean): void {
    this.#open = this.#open.filter((open) => open !== callId)
    this.#draft.result(callId, content, isError)
  }
}

const wordsIn = ({ content }: Json): string => (content === undefined || content === null ? '' : wordsOf(content))

const plainBlocks = (content: unknown): PlainBlock[] =>
  Array.isArray(content)
    ? content.flatMap((value) => {
        const part = objectOf(value)
        const urls = listOf(part['image_urls']).map((url) => imageOf(textOf(url)))
        return urls.length > 0 ? urls : [text(asText(part['text'] ?? part))]
      })
    : content === undefined || content === null
      ? []
      : [text(asText(content))]
