import type { RecordedSession } from '../recordedSession.ts'
import { SessionDraft } from './sessionDraft.ts'
import { isObject, type Json, listOf, objectOf, text, textOf, wordsOf } from './shapes.ts'

/** Trajectories of mini-swe-agent: chat messages, in which the output of each command is a user message. */
export const isMiniSweAgent = (value: unknown): value is Json =>
  isObject(value) &&
  textOf(value['trajectory_format']).startsWith('mini-swe-agent') &&
  listOf(value['messages']).length > 0

const command = /```(?:bash|sh|mswea_bash_command)\s*\n([\s\S]*?)```/

/** The command in a reply becomes a call of `run`, and what answered it the result. */
export function readMiniSweAgent(value: Json, name: string): RecordedSession {
  const draft = new SessionDraft('mini-swe-agent trajectory')
  let open: string | undefined
  for (const [index, { role, content }] of listOf(value['messages']).map(objectOf).entries()) {
    const said = wordsOf(content)
    if (role === 'system') draft.system(said)
    else if (role === 'assistant') {
      const [block, written = ''] = command.exec(said) ?? []
      open = `step-${index}`
      const words = block === undefined ? said : said.replace(block, '').trim()
      draft.reply([text(words), { type: 'toolCall', callId: open, name: 'run', input: { command: written.trim() } }])
    } else if (open === undefined) draft.user([text(said)])
    else {
      draft.result(open, [text(said)], false)
      open = undefined
    }
  }
  return draft.finish(name)
}
