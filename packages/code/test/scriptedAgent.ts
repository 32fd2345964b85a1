import { z } from 'zod'
import { defineAgent } from '../../define/src/defineAgent.ts'
import type { AgentOptions } from '../../../src/actors/define/defineAgent.ts'
import type { AgentDefinition } from '../../../src/actors/define/agentDefinition.ts'
import { policyModel } from '../../models/src/policyModel.ts'
import {
  defineTool,
  type AnyTool,
  type Tool,
  type ToolContext,
  type ToolEffects,
} from '../../../src/actors/tools/defineTool.ts'
import type { ToolSource } from '../../../src/actors/tools/toolSource.ts'
import { textOf } from '../../../src/protocol/messages.ts'
import type { LogRecord, RecordOf } from '../../../src/protocol/records.ts'
import type { Model, ModelRequest } from '../../../src/protocol/ports/model.ts'
import { codeTool, type CodeToolOptions } from '../src/codeTool.ts'
import { quickJsEngine } from '../src/quickJsEngine.ts'

export const engine = quickJsEngine()

/** Has a script run, and says what came of it. */
export const scripting = (code: string, requests: ModelRequest[] = []): Model =>
  policyModel((request) => {
    requests.push(request)
    const last = request.messages.at(-1)!
    return last.role === 'toolResult'
      ? `It said: ${textOf(last.content)}`
      : { toolCalls: [{ name: 'run_code', input: { code } }] }
  })

/** An agent that has one script run. */
export const scripted = (
  code: string,
  tools: readonly (AnyTool | ToolSource)[],
  options: Partial<AgentOptions> = {},
  code_: CodeToolOptions = {},
): AgentDefinition =>
  defineAgent({
    name: 'coder',
    model: scripting(code),
    tools: [codeTool(tools, { only: true, engine, ...code_ })],
    ...options,
  } as AgentOptions)

interface NotedTool {
  readonly effects?: ToolEffects
  readonly needsApproval?: boolean
  readonly run?: (input: { readonly to: string }, context: ToolContext) => unknown
}

/** A tool that notes the keys of its calls. */
export const noting = (
  name: string,
  ran: string[],
  { effects = 'none', needsApproval = false, run = ({ to }) => `${name} ${to}` }: NotedTool = {},
): Tool => {
  const made = {
    name,
    description: `Does ${name}.`,
    needsApproval,
    input: z.object({ to: z.string().default('nobody') }),
    run: async (input: { readonly to: string }, context: ToolContext) => {
      ran.push(context.key)
      return await run(input, context)
    },
  }
  return defineTool({ ...made, effects })
}

export const inner = <T extends 'inner.start' | 'inner.end'>(records: readonly LogRecord[], type: T): RecordOf<T>[] =>
  records.filter((record): record is RecordOf<T> => record.type === type)
