import type { AgentDefinition } from '../define/agentDefinition.ts'

/**
 * Returns true if calls of a tool say nothing that is worth remembering: there is no such tool, it waits for something, or it is a brake.
 */
export function isIgnored({ tools, braking }: AgentDefinition, name: string): boolean {
  const tool = tools.get(name)
  return tool === undefined || tool.polls || braking?.lessons?.brakes.has(name) === true
}
