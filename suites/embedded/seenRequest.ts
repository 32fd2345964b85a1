import type { ModelRequest } from '../../src/index.ts'

/** The arguments of a call, as a model wrote them. */
export type Input = Readonly<Record<string, unknown>>

/** A call that a request shows, with what it came to. */
export interface SeenCall {
  readonly name: string
  readonly input: Input
  readonly text: string
  readonly isError: boolean
  /** Id of its step, if ids are shown. */
  readonly step: string | undefined
  /** How many prompts stand before it. */
  readonly prompt: number
}

/** A note of the runtime. */
export interface SeenNote {
  readonly kind: string
  readonly text: string
  readonly prompt: number
}

/** Request as its model sees it: it knows nothing else. */
export interface SeenRequest {
  /** Messages of people, oldest first. */
  readonly prompts: readonly string[]
  /** Calls with results, oldest first; those of recalled steps are not among them. */
  readonly calls: readonly SeenCall[]
  readonly notes: readonly SeenNote[]
  /** Replies of the model since people last spoke. */
  readonly replies: number
  /** Id of the newest step, and of the message that people said last, if ids are shown. */
  readonly lastStep: string | undefined
  readonly promptStep: string | undefined
  /** Steps that the index names, by name. */
  readonly index: ReadonlyMap<string, string>
  /** Everything in it that is text, for looking something up. */
  readonly words: string
  offers(tool: string): boolean
}

const noteOf = /^<brake-note kind="([\w-]+)"[^>]*>([^]*)<\/brake-note>$/
const stepId = /\n\[(n\d+)\]$/

/** Reads a request as its model would. Pure. */
export function seenRequest({ messages, tools }: ModelRequest): SeenRequest {
  const prompts: string[] = []
  const calls: SeenCall[] = []
  const notes: SeenNote[] = []
  const index = new Map<string, string>()
  const words: string[] = []
  const inputs = new Map<string, Input>()
  let [replies, open]: [number, number] = [0, 0]
  let [lastStep, promptStep]: (string | undefined)[] = []
  for (const message of messages) {
    const texts = message.content.flatMap((block) => (block.type === 'text' ? [block.text] : []))
    if (message.role === 'assistant') {
      replies += 1
      words.push(...texts)
      for (const block of message.content) if (block.type === 'toolCall') inputs.set(block.callId, block.input as Input)
      continue
    }
    for (const text of texts) lastStep = stepId.exec(text)?.[1] ?? lastStep
    if (message.role === 'user') {
      for (const text of texts) {
        words.push(text)
        const [, kind, note] = noteOf.exec(text) ?? []
        if (kind !== undefined) notes.push({ kind, text: note!, prompt: prompts.length })
        else if (text.startsWith('<conversation-summary')) notes.push({ kind: 'summary', text, prompt: prompts.length })
        else if (!text.startsWith('<')) {
          prompts.push(text.replace(stepId, ''))
          replies = 0
          promptStep = stepId.exec(text)?.[1]
        }
        if (kind === 'index') readIndex(note!, index)
      }
      continue
    }
    const { callId, toolName: name, isError } = message
    const id = stepId.exec(texts.at(-1) ?? '')?.[1]
    const text = texts.join('\n').replace(stepId, '')
    words.push(text)
    calls.push({ name, input: inputs.get(callId) ?? {}, text, isError, step: id, prompt: prompts.length })
    // The id stands at the last result of a step: those before it are of the same.
    if (id !== undefined) for (; open < calls.length; open++) calls[open] = { ...calls[open]!, step: id }
  }
  const offered = new Set(tools.map(({ name }) => name))
  return {
    prompts,
    calls,
    notes,
    replies,
    lastStep,
    promptStep,
    index,
    words: words.join('\n'),
    offers: (tool) => offered.has(tool),
  }
}

function readIndex(note: string, index: Map<string, string>): void {
  for (const line of note.trim().split('\n')) {
    const [step = '', ...names] = line.trim().split(' ')
    for (const name of names) index.set(name, step)
  }
}
