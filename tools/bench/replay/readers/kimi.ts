import type { Block } from '../../../../src/index.ts'
import type { RecordedSession } from '../recordedSession.ts'
import { plainBlock, readChatMessages, readMessage, readTool, replyBlock } from './chatMessages.ts'
import { SessionDraft } from './sessionDraft.ts'
import { argumentsOf, asText, isObject, type Json, listOf, numberOf, objectOf, text, textOf } from './shapes.ts'

const marks = new Set(['_checkpoint', '_usage', '_system_prompt'])

const isMark = (line: unknown): boolean => isObject(line) && marks.has(textOf(line['role']))

/** Contexts of Kimi CLI (`context.jsonl`): chat messages, with marks between them. */
export const isKimiContext = (lines: readonly unknown[]): boolean => lines.some(isMark)

export function readKimiContext(lines: readonly unknown[], name: string): RecordedSession {
  const messages = lines.filter(isObject).flatMap((line): Json[] => {
    if (line['role'] === '_system_prompt') return [{ role: 'system', content: line['content'] }]
    return isMark(line) ? [] : [line]
  })
  return readChatMessages({ messages, tools: [] }, name, 'Kimi CLI context')
}

const isWireRecord = (line: unknown): line is Json =>
  isObject(line) && /^context\.append_(?:message|loop_event)$/.test(textOf(line['type']))

/** Records of Kimi Code (`wire.jsonl`): messages, and the events of which replies are made. */
export const isKimiWire = (lines: readonly unknown[]): boolean => lines.some(isWireRecord)

export function readKimiWire(lines: readonly unknown[], name: string): RecordedSession {
  const draft = new SessionDraft('Kimi Code session')
  const reader = new Reader(draft)
  for (const line of lines.filter(isObject)) reader.read(line)
  reader.finish()
  return draft.finish(name)
}

class Reader {
  readonly #draft: SessionDraft
  readonly #prompts = new Set<string>()
  /** Blocks of the current step since it was last handed over, and whether it was handed over before. */
  #open: Block[] = []
  #isBegun = false
  #lastStep = ''

  constructor(draft: SessionDraft) {
    this.#draft = draft
  }

  read(record: Json): void {
    switch (record['type']) {
      case 'config.update':
      case 'profile.bind':
        this.#system(textOf(record['systemPrompt']))
        break
      case 'llm.tools_snapshot':
        for (const tool of listOf(record['tools'])) readTool(this.#draft, objectOf(tool))
        break
      case 'context.append_message':
        this.#message(objectOf(record['message']))
        break
      case 'context.append_loop_event':
        this.#event(objectOf(record['event']))
        break
      case 'context.apply_compaction':
        this.#draft.note('compactions were left out: what they replaced is replayed')
        break
      case 'context.undo':
      case 'context.clear':
        this.#draft.note('what was undone or cleared is replayed')
    }
  }

  finish(usage: Json = {}): void {
    const { inputOther: fresh, inputCacheRead: read, inputCacheCreation: written } = usage
    if (this.#isBegun) this.#draft.more(this.#open)
    else this.#draft.reply(this.#open, numberOf(fresh) + numberOf(read) + numberOf(written))
    this.#isBegun ||= this.#open.length > 0
    this.#open = []
  }

  /** It comes again whenever a session is gone on with. */
  #system(prompt: string): void {
    if (prompt !== '' && !this.#prompts.has(prompt)) this.#draft.system(prompt)
    this.#prompts.add(prompt)
  }

  #message(message: Json): void {
    const { role, content, toolCalls, toolCallId, isError, origin } = message
    this.finish()
    if (objectOf(origin)['kind'] === 'compaction_summary') return
    if (role === 'tool')
      return this.#draft.result(textOf(toolCallId), partsOf(content).map(plainBlock), isError === true)
    // Early versions write a reply a second time, when it is whole.
    const words = role === 'assistant' ? wordsIn(partsOf(content).flatMap(replyBlock)) : ''
    if (words !== '' && words === this.#lastStep) return
    const calls = listOf(toolCalls).map((call) => ({ ...objectOf(call), function: call }))
    readMessage(this.#draft, { role, content: partsOf(content), tool_calls: calls })
  }

  #event(event: Json): void {
    switch (event['type']) {
      case 'step.begin':
        this.finish()
        this.#isBegun = false
        this.#lastStep = ''
        break
      case 'content.part':
        this.#add(partsOf([event['part']]).flatMap(replyBlock))
        break
      case 'tool.call':
        this.#add([
          {
            type: 'toolCall',
            callId: textOf(event['toolCallId']),
            name: textOf(event['name']),
            input: argumentsOf(event['args']),
          },
        ])
        break
      case 'tool.result': {
        this.finish()
        const { output, isError } = objectOf(event['result'])
        const content = Array.isArray(output) ? partsOf(output).map(plainBlock) : [text(asText(output))]
        this.#draft.result(textOf(event['toolCallId']), content, isError === true)
        break
      }
      case 'step.end':
        this.finish(objectOf(event['usage']))
    }
  }

  #add(blocks: readonly Block[]): void {
    this.#open.push(...blocks)
    this.#lastStep += wordsIn(blocks)
  }
}

const wordsIn = (blocks: readonly Block[]): string =>
  blocks.map((block) => (block.type === 'text' ? block.text : '')).join('')

/** Parts as chat messages have them. */
const partsOf = (content: unknown): Json[] =>
  typeof content === 'string'
    ? [{ type: 'text', text: content }]
    : listOf(content).map((value) => {
        const part = objectOf(value)
        return 'imageUrl' in part ? { ...part, image_url: part['imageUrl'] } : part
      })
