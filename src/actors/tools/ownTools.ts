import type { AnyTool } from './defineTool.ts'

const own = new WeakSet<AnyTool>()

/** Marks a tool of the runtime whose results bring nothing into a conversation from outside. Returns it. */
export function asOwn<T extends AnyTool>(tool: T): T {
  own.add(tool)
  return tool
}

/** Returns true if a tool was marked by `asOwn`. Its name proves nothing, because other definitions may use the same name. */
export const isOwn = (tool: AnyTool): boolean => own.has(tool)
