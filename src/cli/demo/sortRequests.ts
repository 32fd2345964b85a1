import type { ModelRequest } from '../../protocol/model.ts'
import type { Agent } from '../../runtime/agents/agent.ts'
import { counted } from '../../charts/amounts.ts'

/** Size of a request as the model was given it. */
export interface RequestSize {
  readonly messages: number
  tokens: number
}

/** The requests on both sides of a revert. */
export interface Reverted {
  readonly before: RequestSize
  after: RequestSize | undefined
  /** The newest brake note of the request after. */
  note: string
}

/** Notes down each applied revert from now on; the list grows as they come. */
export function watchReverts(agent: Agent): readonly Reverted[] {
  const reverts: Reverted[] = []
  let latest: RequestSize = { messages: 0, tokens: 0 }
  agent.subscribe((event) => {
    if (event.type === 'turn.request') {
      latest = { messages: event.request.messages.length, tokens: 0 }
      const revert = reverts.at(-1)
      if (revert === undefined || revert.after !== undefined) return
      revert.after = latest
      revert.note = lastNote(event.request)
    } else if (event.type === 'reply.end') {
      const { input, cacheRead, cacheWrite } = event.message.usage
      latest.tokens = input + cacheRead + cacheWrite
    } else if (event.type === 'revert.applied' && event.applied) {
      reverts.push({ before: latest, after: undefined, note: '' })
    }
  })
  return reverts
}

const lastNote = ({ messages }: ModelRequest): string => {
  const texts = messages.flatMap(({ content }) =>
    content.flatMap((block) => (block.type === 'text' ? [block.text] : [])),
  )
  return texts.findLast((text) => text.startsWith('<brake-note')) ?? ''
}

/** Both requests, a line each, and the note. */
export function sayRequests({ before, after, note }: Reverted): string {
  const size = ({ messages, tokens }: RequestSize): string =>
    `${counted(messages, 'message')}, ${counted(tokens, 'token')}`
  if (after === undefined) return `Request before the revert: ${size(before)}; there was none after it.`
  return `Request before the revert: ${size(before)}\nRequest after the revert:  ${size(after)}, with this note:\n  ${note}`
}
