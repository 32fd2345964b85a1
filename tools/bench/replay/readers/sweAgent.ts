import type { RecordedSession } from '../recordedSession.ts'
import { SessionDraft } from './sessionDraft.ts'
import { asText, isObject, type Json, listOf, objectOf, text, textOf, wordsOf } from './shapes.ts'

/** Trajectories of SWE-agent (`.traj`): the steps in `trajectory`, the prompts in `history` or in the first step's `query`. */
export const isSweAgent = (value: unknown): value is Json =>
  isObject(value) &&
  listOf(value['trajectory']).length > 0 &&
  listOf(value['trajectory']).every((step) => isObject(step) && 'action' in step && 'observation' in step)

/** Each action becomes a call of `run`: where the model writes commands into its text, the observation would be a user message. */
export function readSweAgent(value: Json, name: string): RecordedSession {
  const draft = new SessionDraft('SWE-agent trajectory')
  const steps = listOf(value['trajectory']).map(objectOf)
  const history = listOf(value['history']).map(objectOf)
  const query = listOf(steps[0]?.['query'] ?? steps[0]?.['messages']).map(objectOf)
  readPrompts(draft, history.length > 0 ? history : query)
  for (const [index, { thought, response, action, observation }] of steps.entries()) {
    const callId = `step-${index + 1}`
    const said = textOf(thought) === '' && textOf(action) === '' ? textOf(response) : textOf(thought)
    draft.reply([text(said), { type: 'toolCall', callId, name: 'run', input: { command: textOf(action).trim() } }])
    draft.result(callId, [text(asText(observation))], false)
  }
  return draft.finish(name)
}

/** Reads the messages before the first reply: the system prompt, demonstrations, the task. */
function readPrompts(draft: SessionDraft, messages: readonly Json[]): void {
  for (const { role, content, is_demo: isDemo } of messages) {
    const said = wordsOf(content)
    if (role === 'system') draft.system(said)
    else if (role === 'user' || isDemo === true) draft.user([text(said)])
    else return
  }
}
