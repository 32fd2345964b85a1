import type { z } from 'zod'
import { defineTool as define, type SentTo, type Tool, type ToolOptions } from '../../../src/actors/tools/defineTool.ts'
import type { DataOf } from '../../../src/actors/tools/toolValue.ts'
import { jsonSchemas, type ToolSchema } from '../../../src/actors/tools/toolSchema.ts'
import { readJsonSchema } from './readJsonSchema.ts'

/** Lets tools and agents that the core defines from now on use JSON Schemas. */
export function takeJsonSchemas(): void {
  jsonSchemas.read = readJsonSchema
}

/**
 * Defines a tool from a schema and a function.
 *
 * @throws RuntimeError `INVALID_DEFINITION` when an option is missing or malformed, or the schema is not an object's.
 *
 * @example
 * ```ts
 * const weather = defineTool({
 *   name: 'weather',
 *   description: 'The current weather in a city.',
 *   input: z.object({ city: z.string() }),
 *   effects: 'none',
 *   run: ({ city }) => `Fair in ${city}.`,
 * })
 * ```
 */
export function defineTool<
  const Input extends ToolSchema,
  const Receipt extends z.ZodType = z.ZodUnknown,
  Deps = unknown,
  const Name extends string = string,
  const Output extends z.ZodType = z.ZodUnknown,
>(options: ToolOptions<Input, Receipt, Deps, Name, Output>): Tool<Deps, Name, SentTo<Input>, DataOf<z.output<Output>>> {
  takeJsonSchemas()
  return define(options)
}
