import type { Block, ToolSpec } from '../../../../../src/index.ts'
import { SessionDraft } from '../../readers/sessionDraft.ts'
import { text } from '../../readers/shapes.ts'
import type { RecordedSession } from '../../recordedSession.ts'
import { tools } from './tools.ts'

export interface MadeCall {
  readonly tool: string
  readonly input: object
  readonly output: string
  readonly isError?: boolean
  /** Files that it reports as changed. */
  readonly changed?: readonly string[]
}

export interface MadeStep {
  readonly said: string
  readonly calls: readonly MadeCall[]
}

/** A made-up run: a way into a loop, the loop, and the way on once it is left. */
export interface Scenario {
  readonly kind: string
  readonly system: string
  readonly task: string
  readonly before: readonly MadeStep[]
  /** Nothing in it brings the task further; empty in a productive run. */
  readonly loop: readonly MadeStep[]
  /** The model leaves the loop after its last step; otherwise it would go on for ever. */
  readonly endsByItself: boolean
  readonly after: readonly MadeStep[]
}

export const isStalled = ({ loop }: Scenario): boolean => loop.length > 0

/** Last words of the model when the work is done. */
export const lastWords = 'Done: the task is finished and checked.'

/** Tools of a run, and the names of those that declare that they poll. */
interface Kit {
  readonly tools: readonly ToolSpec[]
  readonly polling: readonly string[]
}

/** The run as it is recorded while nothing watches for loops. */
export function sessionOf(
  scenario: Scenario,
  name: string,
  kit: Kit = { tools, polling: ['build_state'] },
): RecordedSession {
  const { system, task, before, loop, endsByItself, after } = scenario
  const draft = new SessionDraft('generated')
  draft.system(system)
  for (const tool of kit.tools) draft.tool(tool)
  draft.user([text(task)])
  const isOver = loop.length === 0 || endsByItself
  for (const [at, step] of [...before, ...loop, ...(isOver ? after : [])].entries()) addStep(draft, step, `c${at}`)
  if (isOver) draft.reply([text(lastWords)])
  return { ...draft.finish(name), polling: kit.polling }
}

function addStep(draft: SessionDraft, step: MadeStep, id: string): void {
  draft.reply(blocksOf(step, id))
  for (const [at, { output, isError = false, changed }] of step.calls.entries())
    draft.result(`${id}-${at}`, [text(output)], isError, changed)
}

/** The reply of a step; its calls are `<id>-0`, `<id>-1`, … */
export const blocksOf = ({ said, calls }: MadeStep, id: string): Block[] => [
  ...(said === '' ? [] : [text(said)]),
  ...calls.map(({ tool, input }, at): Block => ({ type: 'toolCall', callId: `${id}-${at}`, name: tool, input })),
]
