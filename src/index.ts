/**
 * The door "escapement": agents, their tools and models, and the runtime that they run in. Types that can be derived
 * from a function are not exported: derive them, as in `Parameters<typeof createRuntime>[0]`.
 */

// Agents: what they are told, and what may be said of their calls
export { defineAgent } from '../packages/define/src/defineAgent.ts'
export type { AgentOptions } from './actors/define/defineAgent.ts'
export type { AgentDefinition } from './actors/define/agentDefinition.ts'
export type { BrakingOptions } from './actors/define/brakingOptions.ts'
export type { MemoryOptions } from './actors/parts/memory/memoryOptions.ts'
export type { Guard, HookedCall, HookedResult } from './actors/define/hooks.ts'
export type { TurnContext } from './actors/turn/turnOptions.ts'
export type { RunContext } from './actors/calls/runContext.ts'
export type { Limits } from './protocol/runs/runLimits.ts'
export { heuristicStrategy, type CompactionStrategy } from './actors/brakes/compaction/summariseSpan.ts'
export { llmStrategy } from '../packages/policies/src/llmStrategy.ts'

// Tools
export { scheduleTools } from '../packages/tools/src/schedules/scheduleTools.ts'
export { sleepTool } from './actors/parts/sleep/sleepTool.ts'
export { defineTool } from '../packages/schemas/src/defineTool.ts'
export type { Tool, ToolContext, ToolOutput } from './actors/tools/defineTool.ts'
export { toolName } from './actors/tools/toolName.ts'
export { deferred, type DeferredTools } from './actors/parts/deferred/deferred.ts'
export type { ToolConnection, ToolSource } from './actors/tools/toolSource.ts'
export { workspaceTools, type WorkspaceTool } from '../packages/tools/src/workspace/workspaceTools.ts'
export { agentsMd } from '../packages/tools/src/workspace/agentsMd.ts'
export { skillTools, type SkillSource } from '../packages/tools/src/skills/skillTools.ts'

// Permissions
export type { PermissionOptions } from './actors/parts/permissions/permissionOptions.ts'
export { claudeRules, opencodeRules, type ImportedRules } from '../packages/tools/src/permissions/importRules.ts'
export { fileRules } from '../packages/stores/src/fileRules.ts'
export type { RuleStore } from './protocol/ports/ruleStore.ts'
export type { PermissionMode } from './protocol/parts/permissions/permissionModes.ts'
export type { Permissions } from './protocol/parts/permissions/permissionState.ts'

// Models
export { policyModel, type ModelPolicy } from '../packages/models/src/policyModel.ts'
export { fallback } from '../packages/models/src/fallback.ts'
export { router } from '../packages/models/src/router.ts'
export type { AnyModel } from './actors/models/anyModel.ts'
export type { ReplyShape } from '../packages/models/src/replyShape.ts'
export type { Pricing } from './actors/turn/pricing.ts'
export type {
  JsonSchema,
  Model,
  ModelError,
  ModelPart,
  ModelReply,
  ModelRequest,
  ModelSettings,
  RequestMessage,
  ToolSpec,
} from './protocol/ports/model.ts'
export { estimateTokens, type TokenCounter } from './conversation/limits/tokenCounter.ts'
export { totalTokens } from './protocol/text/messageText.ts'

// The runtime, its agents and their runs
export type { AgentTree, PendingApproval } from './runtime/agents/agentTree.ts'
export type { Settled } from './runtime/agents/settled.ts'
export type { ResumedAll } from '../packages/waking/src/resumeAll.ts'
export type { Waker } from '../packages/waking/src/wake.ts'
export { createRuntime, type Runtime } from '../packages/bridge/src/createRuntime.ts'
export type { RuntimeOptions } from '../packages/runtime/src/runtimeOptions.ts'
export type { Agent } from './runtime/agents/agent.ts'
export type { AgentOf } from './runtime/agents/agent.ts'
export type { StateDoor } from './actors/parts/state/stateDoor.ts'
export type { StateOp } from './protocol/parts/state/patch.ts'
export type { DepsOf, OutputOf, StateOf } from './runtime/agents/agentTypes.ts'
export type { Run } from './protocol/runs/run.ts'
export type { AnsweredRun, RunResult } from './protocol/runs/runResult.ts'
export { partialOutput } from './protocol/runs/partialOutput.ts'
export type { Decision, RunOptions, SayOptions } from './protocol/bridge/commands.ts'
export type { Pending, WaitingAgent } from './protocol/runs/pending.ts'
export type { Content } from './protocol/text/saidContent.ts'
export type { Metadata } from './protocol/metadata.ts'
export type { HistoryMessage } from './protocol/history.ts'
export type { Clock } from './protocol/ports/clock.ts'
export type { Logger } from './protocol/ports/logger.ts'
export type { Tracer } from './protocol/ports/tracer.ts'

// Stores: `escapement/stores` has what one of your own needs, `escapement/sessions` what reads them
export { memoryStore } from '../packages/stores/src/memory/memoryStore.ts'
export { fileStore } from '../packages/stores/src/fileStore.ts'
export type { Store } from './protocol/ports/store.ts'

// Events and records
export type { AgentEvent, EventOf } from './protocol/events.ts'
export type { CallsOf, CallTypes, EventWith, ToolEventOf } from './actors/define/typedEvents.ts'
export type { AgentListener } from './runtime/events/observers.ts'
export type { LogRecord, PauseReason, RecordOf, RunStopReason, Spent } from './protocol/records.ts'

// Conversations and what braking did to them
export type { ConversationView } from './conversation/tree/conversationView.ts'
export type { ConversationNode, Step } from './conversation/tree/node.ts'
export { formatNodeId, parseNodeId, type NodeId } from './protocol/ids.ts'
export type {
  AssistantMessage,
  Block,
  Message,
  PlainBlock,
  ToolCallBlock,
  ToolResultMessage,
  Usage,
  UserMessage,
} from './protocol/messages.ts'
export type { RevertOutcome, Tag } from './protocol/braking.ts'

// The machine
export { agentMachine } from './machines/agentMachine.ts'
export { supervisorMachine } from './machines/supervisorMachine.ts'
export type { AgentContext } from './machines/agentTypes.ts'

// Servers
export type { BridgeServer, ServeOptions, SharedLink } from '../packages/bridge/src/server/serveOptions.ts'
export type { Authenticate } from '../packages/bridge/src/server/authenticator.ts'
export type { Grant } from '../packages/bridge/src/server/roles.ts'
export type { Right, Role } from '../packages/wire/src/rights.ts'
export type { Endpoint } from '../packages/bridge/src/server/endpoint.ts'
export type { AgentAccess } from '../packages/bridge/src/server/agentAccess.ts'
export { serveGateway } from '../packages/cluster/src/serveGateway.ts'

// The command line's configuration
export { defineConfig, type Config } from '../packages/cli/src/defineConfig.ts'

// Errors
export { errorTable, RuntimeError, type ErrorCode, type ErrorInfo } from './protocol/errors.ts'
