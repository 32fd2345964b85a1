import type { AnyTool } from './defineTool.ts'

const own = new WeakSet<AnyTool>()

/** Notes a tool as one of the runtime whose results bring nothing into a conversation from outside. Returns it. */
export function asOwn<T extends AnyTool>(tool: T): T {
  own.add(tool)
  return tool
}

/** Returns true if `asOwn` was told of a tool. A name proves nothing: in other definitions it may be anybody's. */
export const isOwn = (tool: AnyTool): boolean => own.has(tool)
