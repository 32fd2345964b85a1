/** A task, for protocols with tasks: the run of a request. Its id names both the agent and the request. */
export interface TaskPlace {
  readonly agentId: string
  readonly requestId: string
}

/** Separator in task ids. Agent ids do not contain it. */
const between = '~'

export const taskIdOf = ({ agentId, requestId }: TaskPlace): string => `${agentId}${between}${requestId}`

/** Parses a task id; `undefined` if the text is not one. */
export function taskPlace(taskId: string): TaskPlace | undefined {
  const at = taskId.indexOf(between)
  return at < 1 || at === taskId.length - 1
    ? undefined
    : { agentId: taskId.slice(0, at), requestId: taskId.slice(at + 1) }
}
