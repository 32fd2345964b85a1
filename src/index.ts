export { defineAgent, type AgentOptions } from './actors/defineAgent.ts'
export type { CompactionOptions } from './actors/compactionOptions.ts'
export type { BrakingOptions, RevertOptions, StallOptions } from './actors/brakingOptions.ts'
export type { AgentDefinition, SubAgent } from './actors/agentDefinition.ts'
export type { PricesByModel, Pricing } from './actors/pricing.ts'
export type { HandoffEntry } from './actors/handoffs.ts'
export type { SubAgentEntry, SubAgentOptions } from './actors/subAgents.ts'
export {
  defineTool,
  type Tool,
  type Redaction,
  type ToolContext,
  type ToolEffects,
  type ToolOptions,
  type ToolOutput,
  type UndoContext,
} from './actors/tools/defineTool.ts'
export { toolName } from './actors/tools/toolName.ts'
export type { SourceHost, SourceStatus, ToolConnection, ToolSource } from './actors/tools/toolSource.ts'
export type { RunContext } from './actors/runContext.ts'
export type { ArtifactOptions } from './actors/artifacts/artifactOptions.ts'
export type { Artifact } from './protocol/artifacts.ts'
export type { CallsOf, EventWith, ToolEventOf } from './actors/typedEvents.ts'
export type {
  AfterToolAnswer,
  AgentHooks,
  AgentGuards,
  BeforeToolAnswer,
  Guard,
  GuardAnswer,
  GuardContext,
  GuardOptions,
  HookedCall,
  HookedResult,
  HookOptions,
} from './actors/hooks.ts'
export type { MemoryOptions, MemoryOwner, NameOwner } from './actors/memory/memoryOptions.ts'
export type {
  BeforeTurn,
  DynamicInstructions,
  ModelOption,
  OfferedTool,
  TurnChanges,
  TurnContext,
  UseOptions,
} from './actors/turnOptions.ts'
export type { LimitReason, ToolChoice, TurnUse, UseChange } from './protocol/turns.ts'
export { agentsMd, type AgentsMdMessage, type AgentsMdOptions } from '../packages/tools/src/workspace/agentsMd.ts'
export { skillTools, type SkillOptions, type SkillSource } from './actors/skills/skillTools.ts'
export type { FoundSkills, Skill } from './actors/skills/skill.ts'
export {
  workspaceTools,
  type WorkspaceTool,
  type WorkspaceToolsOptions,
} from '../packages/tools/src/workspace/workspaceTools.ts'
export {
  defineConfig,
  type Config,
  type ConfigAgent,
  type ConfigGiven,
  type ConfigMcpServer,
  type ConfigModel,
  type ConfigServe,
} from '../packages/cli/src/defineConfig.ts'
export { policyModel, type Policy, type PolicyModelOptions } from './actors/models/policyModel.ts'
export { fallback, type FallbackOptions } from './actors/models/fallback.ts'
export type { ModelLimit, ModelLimits } from './actors/models/limits/modelLimit.ts'
export { router, type ChooseModel, type RouterOptions } from './actors/models/router.ts'
export type { ReplyShape } from './actors/models/replyShape.ts'
export type { AiSdkModel } from './actors/models/aiSdk/isAiSdkModel.ts'
export type { AnyModel } from './actors/models/anyModel.ts'
export {
  heuristicStrategy,
  llmStrategy,
  type CompactionStrategy,
  type LlmStrategyOptions,
  type Summary,
  type SummaryContext,
} from './actors/summariseSpan.ts'

export { createRuntime, type Runtime } from '../packages/bridge/src/createRuntime.ts'
export { serveGateway } from '../packages/cluster/src/serveGateway.ts'
export type { GatewayOptions, Place, WhoHas } from '../packages/cluster/src/gateway/gatewayOptions.ts'
export type { BirthOptions, OpenOptions, RootSpawnOptions, SpawnOptions } from './runtime/children/spawnOptions.ts'
export type { HistoryMessage } from './protocol/history.ts'
export type { Metadata } from './protocol/metadata.ts'
export type { LeftAgent, ResumeAllOptions, ResumedAll, StoredAgent } from './runtime/resumeAll.ts'
export type { RuntimeOptions } from './runtime/runtimeOptions.ts'
export type { AgentPage, ListOptions } from './runtime/registry.ts'
export type { Authenticate } from '../packages/bridge/src/server/authenticator.ts'
export type { Right, Role } from './protocol/rights.ts'
export type { Grant } from '../packages/bridge/src/server/roles.ts'
export type { ServedAgent, ServedDeps } from '../packages/bridge/src/server/servedDeps.ts'
export type { BridgeServer, ServeOptions } from '../packages/bridge/src/server/serveOptions.ts'
export type { InProcessOptions } from '../packages/bridge/src/inProcess/inProcessServer.ts'
export type { Agent } from './runtime/agents/agent.ts'
export type { Settled } from './runtime/agents/settled.ts'
export type { AgentOf } from './runtime/agents/agentOf.ts'
export type { DepsOf, ListenOptions, OutputOf } from './runtime/agents/agentTypes.ts'
export type {
  CompactOptions,
  DecideOptions,
  Decision,
  PruneOptions,
  RevertCommandOptions,
  RunOptions,
  SayOptions,
} from './protocol/commands.ts'
export type { Pending, WaitingAgent } from './protocol/pending.ts'
export type { AgentTree, PendingApproval } from './runtime/agents/agentTree.ts'
export type { Branch, GroupEntry, GroupHost, GroupOptions, GroupSpent } from './runtime/groups/branch.ts'
export type { Judge, JudgeFunction, ModelJudge } from './runtime/groups/judge.ts'
export { parallel, race, type ParallelOptions, type ParallelResult } from './runtime/groups/parallel.ts'
export {
  pipeline,
  type PipelineDone,
  type PipelineResult,
  type PipelineStop,
  type PipelineStopped,
  type PromptMapper,
} from './runtime/groups/pipeline.ts'
export { totalTokens } from './protocol/messageText.ts'
export { each } from './runtime/groups/each.ts'
export type { Each, EachItem, EachOptions, EachPlace, EachProgress, EachResult } from './runtime/groups/eachTypes.ts'
export type { AgentListener } from './runtime/events/observers.ts'
export { partialOutput, type PartialOutput } from './runs/partialOutput.ts'
export type { Run } from './runs/run.ts'
export type { AbortedRun, AnsweredRun, FailedRun, PausedRun, RunResult, UnansweredRun } from './runs/runResult.ts'
export { memoryStore } from './stores/memoryStore.ts'
export { fileStore } from './stores/fileStore.ts'
export type { FileStoreOptions } from './stores/syncPolicy.ts'
export { repairLog, type LogRepair } from './stores/repairLog.ts'

export { sessionOf, SessionProjection } from './sessions/sessionProjection.ts'
export type {
  SessionRun,
  Session,
  SessionCall,
  SessionStatus,
  TrunkChange,
  Turn,
  TurnInput,
} from './sessions/session.ts'
export { summaryOf, type SessionSummary } from './sessions/listSessions.ts'
export { copySessions, type CopiedSessions, type CopyOptions, type CopyProgress } from './sessions/copySessions.ts'
export { searchSessions } from './sessions/searchSessions.ts'
export { listSessions } from './sessions/listSessions.ts'
export { loadSession, type LoadedSession } from './sessions/loadSession.ts'
export { forkSession, type ForkOptions } from './sessions/forkSession.ts'
export { deleteSession } from './sessions/deleteSession.ts'
export { exportSession } from './sessions/exportSession.ts'
export { importSession } from './sessions/importSession.ts'
export { LoggedRequests, requestsOf, type RequestOutcome } from './sessions/loggedRequests.ts'
export { readHistory, type History } from './sessions/readHistory.ts'

export { agentMachine } from './machines/agentMachine.ts'
export { supervisorMachine } from './machines/supervisorMachine.ts'
export type { RestartPolicy } from './machines/supervisorTypes.ts'
export type { AgentContext } from './machines/agentTypes.ts'
export type { AgentPolicy, QueueMode, RetryPolicy, ToolExecution } from './machines/agentPolicy.ts'

export type { ConversationView } from './conversation/conversationView.ts'
export type { ConversationNode, Step } from './conversation/node.ts'
export { rebuildConversation } from './conversation/rebuildConversation.ts'
export { checkRequest, type CheckContext, type Violation } from './conversation/checkRequest.ts'
export type { CompactionPolicy } from './conversation/planCompaction.ts'
export { estimateTokens, type TokenCounter } from './conversation/tokenCounter.ts'

export type {
  Evidence,
  CompactionRequest,
  GraftOutcome,
  GraftRequest,
  PinOutcome,
  PinRequest,
  PruneOutcome,
  PruneRequest,
  RevertCategory,
  AppliedRevert,
  RefusedRevert,
  RevertOutcome,
  RevertRequest,
  Stall,
  StallOutcome,
  StallRule,
  Tag,
  TagKind,
} from './protocol/braking.ts'
export type { AgentCommand } from './protocol/commands.ts'
export type { Content } from './protocol/saidContent.ts'
export type { Clock } from './protocol/clock.ts'
export { errorTable, RuntimeError, type ErrorCode, type ErrorInfo } from './protocol/errors.ts'
export type { AgentEvent, EventOf, EventOrigin, LiveEvent, LoggedEvent } from './protocol/events.ts'
export { formatNodeId, parseNodeId, type AgentId, type NodeId } from './protocol/ids.ts'
export type {
  AssistantMessage,
  Block,
  Message,
  PlainBlock,
  SyntheticReason,
  ToolCallBlock,
  ToolResultMessage,
  Usage,
  UserMessage,
  UserSource,
} from './protocol/messages.ts'
export type {
  JsonSchema,
  Model,
  ModelError,
  ModelErrorKind,
  ModelPart,
  ModelReply,
  ModelRequest,
  ModelSettings,
  ReplyStopReason,
  RequestMessage,
  PromptCache,
  ThinkingLevel,
  ToolSpec,
} from './protocol/model.ts'
export type { ParentLink } from './protocol/parentLink.ts'
export { parseRecord } from './protocol/upgradeRecord.ts'
export { type ContextMessage, type QueuedMessage, type QueueName } from './protocol/queue.ts'
export {
  logRecordSchema,
  recordVersion,
  type LogRecord,
  type Overlay,
  type PauseReason,
  type RecordOf,
  type RunStopReason,
  type Spent,
} from './protocol/records.ts'
export { type Limits } from './protocol/runLimits.ts'
export type { Logger, LogLine } from './protocol/logger.ts'
export type { Provenance, ProvenanceKind } from './protocol/provenance.ts'
export type { ModelSnapshot } from './protocol/model.ts'
export type { UndoLedger } from './protocol/undo.ts'
export type { Checkpoint, CheckpointStore } from './protocol/checkpoints.ts'
export type { SnapshotLimits, Snapshots, SnapshotStore } from './protocol/snapshots.ts'
export {
  stored,
  type ErasableStore,
  type LogHolder,
  type LogWorker,
  type Store,
  type StoreLease,
} from './protocol/store.ts'
export type { LogEntry, LogOrigin, LogPage, LogQuery } from './protocol/logPages.ts'
export type { SearchHit, SearchQuery } from './protocol/logSearch.ts'
export type { TracedAgent, TracedEffect, Tracer } from './protocol/tracer.ts'
export type { RedactOptions } from './redaction/redactor.ts'
export { capturedRequests, type CapturedRequest, type TurnRequest } from './conversation/captureRequest.ts'

export {
  chart,
  type ChartDetail,
  type ChartedAgent,
  type ChartFormat,
  type ChartOptions,
  type ChartSubject,
} from '../packages/charts/src/chart.ts'
export type { BrakeFlags, ChartActor, ChartEdge, ChartModel, ChartNode } from '../packages/charts/src/chartModel.ts'
export {
  conversationGraph,
  type ConversationFormat,
  type ConversationGraphOptions,
  type ConversationSubject,
} from '../packages/charts/src/conversationGraph.ts'
export type { ConversationModel } from '../packages/charts/src/conversationModel.ts'
export type { Endpoint } from '../packages/bridge/src/server/endpoint.ts'
export type { TextSocket } from '../packages/bridge/src/server/textSocket.ts'
export type { AgentAccess } from '../packages/bridge/src/server/agentAccess.ts'
