import type { Right } from '../../protocol/rights.ts'
import type { AgentViewState } from './agentView.ts'
import type { ConnectionStatus } from './connection.ts'

/** What a person can do to an agent here. */
export type ControlName =
  | 'prompt'
  | 'steer'
  | 'followUp'
  | 'interrupt'
  | 'abort'
  | 'resume'
  | 'stop'
  | 'decide'
  | 'approve'
  | 'revert'
  | 'prune'
  | 'pin'
  | 'graft'
  | 'compact'
  | 'brake'

/** Why a control cannot be used now; `null`: it can. */
export type Controls = Readonly<Record<ControlName, string | null>>

/** What decides whether anything can be done at all. */
export interface DriveFacts {
  /** The rights of the token. */
  readonly may: (right: Right) => boolean
  readonly connection: ConnectionStatus
  /** Set if a token gave the rights. */
  readonly hasToken: boolean
  /** Logs alone are served: nothing runs, and nothing could be started. */
  readonly isRecording: boolean
}

/** Why no agent can be driven from here; `null`: it can. Pure. */
export function whyNotDrive(
  { may, connection, hasToken, isRecording }: DriveFacts,
  right: Right = 'talk',
): string | null {
  if (connection !== 'open') return 'There is no connection to the server.'
  if (may(right)) return null
  if (may('talk')) return `Your token does not allow this: it needs the right "${right}".`
  if (hasToken) return `Your token only lets you look: this needs the right "${right}".`
  return isRecording ? 'A recording: nothing runs here.' : 'This server only lets you look.'
}

/** Why no fork can be made from here; `null`: it can, of the past and of what has stopped too. Pure. */
export function whyNotFork(facts: DriveFacts, status: AgentViewState['status']): string | null {
  const why = whyNotDrive(facts)
  if (why !== null) return why
  if (!facts.may('spawn')) return 'A fork is a new agent: starting one needs the right "spawn".'
  return status === 'loading' || status === 'error' ? 'The log is not there yet.' : null
}

/** What decides over the controls. */
export interface ControlFacts extends DriveFacts {
  readonly view: Pick<AgentViewState, 'status' | 'chartState' | 'isRunning' | 'policies' | 'pause'> & {
    readonly isStopped: boolean
  }
}

/** Whether a run is under way. */
export const isBusy = (chartState: string): boolean => !/^(idle|paused|stopped|closed|)$/.test(chartState)

const whatever = (facts: ControlFacts, right: Right): string | null => {
  const { view } = facts
  const why = whyNotDrive(facts, right)
  if (why !== null) return why
  if (view.status === 'loading') return 'The log is still being read.'
  if (view.status === 'error') return 'The agent cannot be shown.'
  if (view.status === 'past') return 'You look at the past: go back to the newest moment first.'
  if (view.isStopped) return 'The agent was stopped for good.'
  return null
}

const inRun = ({ view }: ControlFacts): string | null => (isBusy(view.chartState) ? null : 'No run is under way.')

const table: { readonly [C in ControlName]: (facts: ControlFacts) => string | null } = {
  prompt: () => null,
  steer: inRun,
  followUp: inRun,
  interrupt: inRun,
  abort: (facts) => (facts.view.chartState === 'paused' ? null : inRun(facts)),
  resume: ({ view }) => {
    if (view.chartState !== 'paused') return 'The agent is not paused.'
    return view.pause?.type === 'approvals' ? 'It waits for a decision, not to be resumed.' : null
  },
  stop: () => null,
  decide: () => null,
  approve: () => null,
  revert: () => null,
  prune: () => null,
  pin: () => null,
  graft: () => null,
  compact: () => null,
  brake: ({ view }) =>
    view.policies === null || view.policies.length === 0
      ? 'The agent has no policies: braking: { policies: [...] } gives it some.'
      : null,
}

/** Rights that controls need, where that is not `control`. */
const rightFor: { readonly [C in ControlName]?: Right } = {
  prompt: 'talk',
  steer: 'talk',
  followUp: 'talk',
  interrupt: 'talk',
  abort: 'talk',
  decide: 'answer.own',
  approve: 'approve',
}

/** What may be done now, and why not. Pure. */
export function controlsOf(facts: ControlFacts): Controls {
  return Object.fromEntries(
    Object.entries(table).map(([name, why]) => [
      name,
      whatever(facts, rightFor[name as ControlName] ?? 'control') ?? why(facts),
    ]),
  ) as Controls
}
