import { chatMessagesIn, readChatMessages } from '../../readers/chatMessages.ts'
import { isObject, type Json, listOf } from '../../readers/shapes.ts'
import type { LabelledRun } from '../labelledRun.ts'
import { marked } from './outcomes.ts'

/** Trajectories of tau-bench: dialogues of a customer with an agent, each with its reward. */
export const isTauBench = (value: unknown): value is readonly Json[] =>
  listOf(value).length > 0 && listOf(value).every((run) => isObject(run) && 'traj' in run && 'reward' in run)

const changes = /^(?:book|cancel|exchange|modify|return|send|update)_/

export const readTauBench = (runs: readonly Json[], kind: string): LabelledRun[] =>
  runs.flatMap(({ traj, reward }, index) => {
    const chat = chatMessagesIn(traj)
    if (chat === undefined) return []
    const session = marked(readChatMessages(chat, `${kind} ${index}`), (tool, _, output) => ({
      isError: output.startsWith('Error'),
      isChange: changes.test(tool),
    }))
    return [{ kind, session, verdict: reward === 1 ? 'passed' : 'failed' }]
  })
