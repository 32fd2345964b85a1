/** The step of a hosted machine that is being taken. Ids made in it are the same whenever it is taken again. */
export interface HostStep {
  readonly hostId: string
  /** `seq` of the record that it follows from. */
  readonly seq: number
  /** Number of agents that the machine has, those that the step made included. */
  agents: number
  /** Number of agents that it made, and of commands that it gave to agents. */
  births: number
  commands: number
}

let current: HostStep | undefined

/** Returns the step that is being taken; `undefined` outside of hosted machines. Transitions are synchronous, so there is one at most. */
export const stepNow = (): HostStep | undefined => current

/** Takes a step: whatever `work` makes is named after it. Returns what `work` returns, and throws what it throws. */
export function inStep<T>(step: Pick<HostStep, 'hostId' | 'seq' | 'agents'>, work: () => T): T {
  const before = current
  current = { ...step, births: 0, commands: 0 }
  try {
    return work()
  } finally {
    current = before
  }
}

/** Maximum number of agents in one machine: XState stops flat children in quadratic time. */
export const mostAgents = 100

/** Returns the id for an agent, or for its first request, that the current step makes; `undefined` outside of a step. */
export function nameInStep(): string | undefined {
  if (current === undefined) return undefined
  current.births += 1
  return `${current.hostId}-${current.seq}-${current.births}`
}

/** Returns the id of the machine in whose step an agent of some definition was named; `undefined`: it has a name of another kind. */
export function machineNamedIn(agentId: string, definition: string): string | undefined {
  return agentId.startsWith(`${definition}-`)
    ? /^(.+)-\d+-\d+$/.exec(agentId.slice(definition.length + 1))?.[1]
    : undefined
}

/** Returns the id for a command that the current step gives to an agent; `undefined` outside of a step. */
export function commandInStep(): string | undefined {
  if (current === undefined) return undefined
  current.commands += 1
  return `${current.hostId}/${current.seq}/${current.commands}`
}
