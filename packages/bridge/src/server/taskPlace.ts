/** A task, for protocols that know tasks, is the run of a request: its id names both the agent and the request. */
export interface TaskPlace {
  readonly agentId: string
  readonly requestId: string
}

/** A character that no id of an agent has. */
const between = '~'

export const taskIdOf = ({ agentId, requestId }: TaskPlace): string => `${agentId}${between}${requestId}`

/** Reads an id; `undefined`: it is that of no task. */
export function taskPlace(taskId: string): TaskPlace | undefined {
  const at = taskId.indexOf(between)
  return at < 1 || at === taskId.length - 1
    ? undefined
    : { agentId: taskId.slice(0, at), requestId: taskId.slice(at + 1) }
}
