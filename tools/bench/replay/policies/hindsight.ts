import type { Agent, Block } from '../../../../src/index.ts'
import { isStep, type RecordedSession, type StepTurn } from '../recordedSession.ts'
import { deadEnds } from './deadEnds.ts'
import type { Script } from './policy.ts'
import { stepNodes } from './stepNodes.ts'

/** The model reverts each dead end once it has ended: one more request each, as in a real session. */
export function revertDeadEnds(session: RecordedSession): Script {
  const ends = new Map(deadEnds(session).map((end) => [end.to + 1, end]))
  return {
    beforeReply(turn, _request, agent): Block[] | undefined {
      const end = ends.get(turn)
      if (end === undefined || end.from === 0) return undefined
      ends.delete(turn)
      const step = stepNodes(agent)[end.from - 1]
      if (step === undefined) return undefined
      const input = { category: 'failure', step, summary: lessonOf(session, end.from, end.to) }
      return [{ type: 'toolCall', callId: '', name: 'revert_to_state', input }]
    },
  }
}

/** One line: what was tried, from the calls alone. */
function lessonOf({ turns }: RecordedSession, from: number, to: number): string {
  const calls = turns
    .slice(from, to + 1)
    .flatMap((turn) => (isStep(turn) ? turn.content.filter(({ type }) => type === 'toolCall') : []))
  const tried = calls.map((call) => (call.type === 'toolCall' ? `${call.name} ${firstText(call.input)}` : ''))
  return `Nothing of use in: ${[...new Set(tried)].join('; ').slice(0, 300)}`
}

const firstText = (input: unknown): string => {
  const text = Object.values(input as object).find((value) => typeof value === 'string') ?? ''
  return text.replace(/\s+/g, ' ').slice(0, 60)
}

/** Runs of less than so many steps are left as they are. */
const minSteps = 3

/** Each run that is done is reverted to the prompt that asked for it, before the next: its last words are the summary. */
export function squashRuns(session: RecordedSession): Script {
  return {
    atRest(turn: number, agent: Agent): void {
      const begin = session.turns.findLastIndex((earlier, at) => at < turn && !isStep(earlier))
      const steps = session.turns.slice(begin + 1, turn).filter(isStep)
      const target = stepNodes(agent)[begin]
      if (begin < 0 || target === undefined || steps.length < minSteps) return
      agent.revert(target, { category: 'completion', summary: outcomeOf(steps) })
    },
  }
}

function outcomeOf(steps: readonly StepTurn[]): string {
  const said = steps.at(-1)!.content.flatMap((block) => (block.type === 'text' ? block.text : []))
  const files = steps.flatMap(({ content }) =>
    content.flatMap((block) => (block.type === 'toolCall' ? pathOf(block.input) : [])),
  )
  return `${said.join(' ').slice(0, 1_200)}\nFiles: ${[...new Set(files)].join(', ').slice(0, 600)}`
}

function pathOf(input: unknown): string[] {
  const { path, file_path: filePath } = input as { readonly path?: unknown; readonly file_path?: unknown }
  return [path, filePath].filter((value) => typeof value === 'string')
}
