import type { AgentDefinition } from '../define/agentDefinition.ts'

/** Returns true if calls of a tool yield no lessons: the tool does not exist, polls for something, or is a brake. */
export function isIgnored({ tools, braking }: AgentDefinition, name: string): boolean {
  const tool = tools.get(name)
  return tool === undefined || tool.polls || braking?.lessons?.brakes.has(name) === true
}
