import { SessionDraft } from '../../readers/sessionDraft.ts'
import { asText, isObject, type Json, listOf, numberOf, objectOf, text, textOf } from '../../readers/shapes.ts'
import type { LabelledRun } from '../labelledRun.ts'
import { ofShell } from './outcomes.ts'

/** Results of InterCode: runs by number, each with its actions, what was observed, and which actions were valid. */
export const isInterCode = (value: unknown): value is Json =>
  isObject(value) && Object.values(value).length > 0 && Object.values(value).every(isRun)

const isRun = (value: unknown): boolean => isObject(value) && 'turn_history' in value && 'summary' in value

export const readInterCode = (runs: Json, kind: string): LabelledRun[] =>
  Object.entries(runs).flatMap(([id, value]) => {
    const { query, summary, turn_history: history } = objectOf(value)
    const { actions, observations, valid_action: valid } = objectOf(history)
    if (listOf(actions).length === 0) return []
    const draft = new SessionDraft('InterCode')
    draft.system('You work in an interactive environment: one action at a time.')
    draft.user([text(textOf(query))])
    for (const [at, action] of listOf(actions).entries()) {
      const callId = `a${at}`
      const input = { command: asText(action) }
      const output = asText(listOf(observations)[at])
      const { isChange } = ofShell('execute', input, output)
      const isError = listOf(valid)[at] === false
      draft.reply([{ type: 'toolCall', callId, name: 'execute', input }])
      draft.result(callId, [text(output)], isError, isChange && !isError ? ['execute'] : [])
    }
    const verdict = numberOf(objectOf(summary)['max_reward']) === 1 ? 'passed' : 'failed'
    return [{ kind, session: draft.finish(`${kind} ${id}`), verdict }]
  })
