import type { FactPlace } from '../../../src/actors/parts/memory/remembering.ts'
import { keepFact } from '../../tools/src/remembering/keepFact.ts'
import type { Answer, Consultation, Question, Runnable, StepView } from '../../../src/actors/define/policy.ts'
import { formatNodeId } from '../../../src/protocol/ids.ts'
import { piecesOf } from '../../../src/conversation/tree/stepText.ts'
import { scriptedModel } from '../../evaluation/src/testing/scriptedModel.ts'
import { simulatedClock } from '../../evaluation/src/testing/simulatedClock.ts'
import { BrakeLog } from '../../../test/support/brakeLog.ts'

/** A step of the model of 100 tokens, unless told otherwise. */
export type WantedStep = Partial<Omit<StepView, 'text'>> & { readonly text?: string }

export interface Wanted extends Partial<Omit<Consultation, 'steps' | 'ask' | 'run' | 'remember' | 'exportSession'>> {
  /** In place of the steps of `log`; ids count from 1 where they are missing. */
  readonly steps?: readonly WantedStep[]
  /** Whose conversation it is; its newest step and its pinned ones are fixed. */
  readonly log?: BrakeLog
  /** In order; an error rejects. Questions beyond them reject. */
  readonly answers?: readonly (string | Error)[]
  readonly ask?: Consultation['ask']
  readonly run?: Consultation['run']
  readonly exportSession?: Consultation['exportSession']
  /** Place of the agent that facts are kept of: an agent `tester` without a memory of its own. */
  readonly place?: Partial<FactPlace> | undefined
}

export interface FakeConsultation extends Consultation {
  readonly asked: readonly Question[]
  readonly ran: readonly { readonly agent: Runnable; readonly prompt: string }[]
}

/** Consultation as the kernel gives it to the parts of a policy: an agent of 10 tokens of instructions and the tokens of its steps. */
export function fakeConsultation(wanted: Wanted = {}): FakeConsultation {
  const { log = new BrakeLog(), steps: given, answers = [], ask, run, exportSession, place, ...rest } = wanted
  const steps = given === undefined ? stepsOfLog(log) : given.map(stepView)
  const asked: Question[] = []
  const ran: { agent: Runnable; prompt: string }[] = []
  const clock = wanted.clock ?? simulatedClock()
  const owner: FactPlace = {
    agentId: 'a',
    path: [],
    deps: undefined,
    definition: { name: 'tester', memory: null },
    conversation: log.conversation,
    clock,
    ...place,
  }
  const sum = (of: readonly StepView[]): number => of.reduce((total, { tokens }) => total + tokens, 10)
  return {
    policy: 'tested',
    agentId: 'a',
    conversation: log.conversation,
    steps,
    contextTokens: sum(steps),
    fixedTokens: sum(steps.filter(({ role, fixed }) => role === 'user' || fixed === 'is pinned')),
    contextWindow: 200_000,
    compactsAt: 170_000,
    canRecall: true,
    growth: 100,
    turn: steps.length,
    isAtRest: false,
    isRequested: false,
    stall: undefined,
    last: undefined,
    model: scriptedModel([]),
    pricing: null,
    brakeTools: [],
    clock,
    signal: new AbortController().signal,
    ...rest,
    asked,
    ran,
    ask: async (question) => {
      asked.push(question)
      if (ask !== undefined) return ask(question)
      const answer = answers[asked.length - 1] ?? new Error(`question ${asked.length} has no answer`)
      if (typeof answer === 'string') return answer
      throw answer
    },
    run: async (agent, prompt): Promise<Answer> => {
      ran.push({ agent, prompt })
      if (run === undefined) throw new Error(`nobody runs ${agent.name}`)
      return run(agent, prompt)
    },
    remember: (memory, fact) => keepFact(owner, memory, fact),
    exportSession: exportSession ?? (() => linesOf('{"format":"escapement.session"}\n')),
  }
}

async function* linesOf(...lines: readonly string[]): AsyncGenerator<string> {
  yield* lines
}

const stepView = ({ text = '', ...step }: WantedStep, index: number): StepView => ({
  id: `n${index + 1}`,
  role: 'assistant',
  tokens: 100,
  ...(step.role === 'user' ? { fixed: 'is a user message' } : {}),
  ...step,
  text: () => text,
})

function stepsOfLog({ conversation }: BrakeLog): StepView[] {
  const all = conversation.steps().filter(({ id }) => conversation.annotations?.hiddenBy(id) === undefined)
  return all.map(({ id, nodes }): StepView => {
    const role = nodes[0]!.message.role === 'user' ? 'user' : 'assistant'
    const fixed =
      role === 'user'
        ? 'is a user message'
        : conversation.annotations?.isPinned(id) === true
          ? 'is pinned'
          : id === all.at(-1)!.id
            ? 'is the newest step'
            : undefined
    return {
      id: formatNodeId(id),
      role,
      tokens: nodes.reduce((sum, { tokens }) => sum + tokens, 0),
      ...(fixed === undefined ? {} : { fixed }),
      text: () => [...piecesOf(nodes)].join('\n'),
    }
  })
}
