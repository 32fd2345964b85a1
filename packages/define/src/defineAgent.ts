import type { AgentDefinition } from '../../../src/actors/define/agentDefinition.ts'
import type { AgentEntries, AgentEntryOf } from '../../../src/actors/define/agentEntries.ts'
import { defineAgent as define, type AgentOptions } from '../../../src/actors/define/defineAgent.ts'
import type { EntryDeps } from '../../../src/actors/define/subAgents.ts'
import type { EntryToolDeps, ToolEntries } from '../../../src/actors/define/toolEntries.ts'
import type { CallsOf } from '../../../src/actors/define/typedEvents.ts'
import { outside } from '../../../src/actors/define/outside.ts'
import { remembering } from '../../../src/actors/parts/memory/remembering.ts'
import { aiSdkModel } from '../../ai-sdk/src/adapters/aiSdkModel.ts'
import { isAiSdkToolSet, toolsOfSet } from '../../ai-sdk/src/adapters/aiSdkTools.ts'
import { isAiSdkModel } from '../../ai-sdk/src/adapters/isAiSdkModel.ts'
import { declarationOf } from '../../tools/src/finding/declaration.ts'
import { findingTools } from '../../tools/src/finding/findTools.ts'
import { knownRemembering } from '../../tools/src/remembering/remembering.ts'
import { takeJsonSchemas } from '../../schemas/src/defineTool.ts'
import { skillTools } from '../../tools/src/skills/skillTools.ts'

const known: Required<typeof outside> = {
  model: (value) => (isAiSdkModel(value) ? aiSdkModel(value) : undefined),
  isToolSet: isAiSdkToolSet,
  toolsOf: (set, label) => toolsOfSet(set, {}, label),
  skillTools,
  findingTools,
  declarationOf,
}

/**
 * Defines an agent: checks the options and fills in defaults. Start agents from it with `runtime.spawn`.
 *
 * @throws RuntimeError `INVALID_DEFINITION` naming the option, when one is missing, malformed or unknown.
 *
 * @example
 * ```ts
 * const reviewer = defineAgent({
 *   name: 'reviewer',
 *   model, // any language model of AI SDK 7, such as anthropic('claude-sonnet-5-5')
 *   instructions: 'Review the change and say what is wrong with it.',
 *   tools: workspaceTools('.'),
 *   limits: { turns: 20 },
 * })
 * ```
 */
export function defineAgent<
  Output = undefined,
  Deps = unknown,
  const Tools extends ToolEntries = readonly [],
  const Agents extends AgentEntries = readonly [],
  State = undefined,
>(
  options: AgentOptions<Output, Deps & EntryToolDeps<Tools> & EntryDeps<AgentEntryOf<Agents>>, Tools, Agents, State>,
): AgentDefinition<
  Output,
  Deps & EntryToolDeps<Tools> & EntryDeps<AgentEntryOf<Agents>>,
  CallsOf<Tools, Agents>,
  State
> {
  Object.assign(outside, known)
  takeJsonSchemas()
  Object.assign(remembering, knownRemembering)
  return define(options)
}
