
export { defineAgent, type AgentOptions } from './actors/define/defineAgent.ts'
export type { CompactionOptions } from './actors/define/compactionOptions.ts'
export type { BrakingOptions, RevertOptions, StallOptions } from './actors/define/brakingOptions.ts'
export type { AgentDefinition, SubAgent } from './actors/define/agentDefinition.ts'
export type { PricesByModel, Pricing } from './actors/turn/pricing.ts'
export type { HandoffEntry } from './actors/define/handoffs.ts'
export type { SubAgentEntry, SubAgentOptions } from './actors/define/subAgents.ts'
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
export type { RunContext } from './actors/calls/runContext.ts'
export type { ArtifactOptions } from './actors/parts/artifacts/artifactOptions.ts'
export type { Artifact } from './protocol/artifacts/artifact.ts'
export type { CallsOf, EventWith, ToolEventOf } from './actors/define/typedEvents.ts'
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
} from './actors/define/hooks.ts'
export type { MemoryOptions, MemoryOwner, NameOwner } from './actors/parts/memory/memoryOptions.ts'
export type {
  BeforeTurn,
  DynamicInstructions,
  ModelOption,
  OfferedTool,
  TurnChanges,
  TurnContext,
  UseOptions,
} from './actors/turn/turnOptions.ts'
export type { LimitReason, ToolChoice, TurnUse, UseChange } from './protocol/bridge/turns.ts'
export { agentsMd, type AgentsMdMessage, type AgentsMdOptions } from '../packages/tools/src/workspace/agentsMd.ts'
export { skillTools, type SkillOptions, type SkillSource } from './actors/parts/skills/skillTools.ts'
export type { FoundSkills, Skill } from './actors/parts/skills/skill.ts'
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
export { fallback, type FallbackOptions } from '../packages/models/src/fallback.ts'
export type { ModelLimit, ModelLimits } from './actors/models/limits/modelLimit.ts'
export { router, type ChooseModel, type RouterOptions } from '../packages/models/src/router.ts'
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
} from './actors/brakes/compaction/summariseSpan.ts'

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
export type { Right, Role } from './protocol/bridge/rights.ts'
export type { Grant } from '../packages/bridge/src/server/roles.ts'
export type { ServedAgent, ServedDeps } from '../packages/bridge/src/server/servedDeps.ts'
export type { BridgeServer, ServeOptions } from '../packages/bridge/src/server/serveOptions.ts'
export type { InProcessOptions } from '../packages/bridge/src/inProcess/inProcessServer.ts'
export type { Agent } from './runtime/agents/agent.ts'
export type { Settled } from './runtime/agents/settled.ts'
export type { AgentOf } from './runtime/agents/agent.ts'
export type { DepsOf, ListenOptions, OutputOf } from './runtime/agents/agentTypes.ts'
export type {
  CompactOptions,
  DecideOptions,
  Decision,
  PruneOptions,
  RevertCommandOptions,
  RunOptions,
  SayOptions,
} from './protocol/bridge/commands.ts'
export type { Pending, WaitingAgent } from './protocol/runs/pending.ts'
export type { AgentTree, PendingApproval } from './runtime/agents/agentTree.ts'
export type { Branch, GroupEntry, GroupHost, GroupOptions, GroupSpent } from '../packages/groups/src/branch.ts'
export type { Judge, JudgeFunction, ModelJudge } from '../packages/groups/src/judge.ts'
export { parallel, race, type ParallelOptions, type ParallelResult } from '../packages/groups/src/parallel.ts'
export {
  pipeline,
  type PipelineDone,
  type PipelineResult,
  type PipelineStop,
  type PipelineStopped,
  type PromptMapper,
} from '../packages/groups/src/pipeline.ts'
export { totalTokens } from './protocol/text/messageText.ts'
export { each } from '../packages/groups/src/each.ts'
export type {
  Each,
  EachItem,
  EachOptions,
  EachPlace,
  EachProgress,
  EachResult,
} from '../packages/groups/src/eachTypes.ts'
export type { AgentListener } from './runtime/events/observers.ts'
export { partialOutput, type PartialOutput } from './protocol/runs/partialOutput.ts'
export type { Run } from './protocol/runs/run.ts'
export type {
  AbortedRun,
  AnsweredRun,
  FailedRun,
  PausedRun,
  RunResult,
  UnansweredRun,
} from './protocol/runs/runResult.ts'
export { memoryStore } from './log/stores/memoryStore.ts'
export { fileStore } from './log/stores/fileStore.ts'
export type { FileStoreOptions } from './log/stores/syncPolicy.ts'
export { repairLog, type LogRepair } from './log/stores/repairLog.ts'

export { sessionOf, SessionProjection } from '../packages/sessions/src/sessionProjection.ts'
export type {
  SessionRun,
  Session,
  SessionCall,
  SessionStatus,
  TrunkChange,
  Turn,
  TurnInput,
} from '../packages/sessions/src/session.ts'
export { summaryOf, type SessionSummary } from '../packages/sessions/src/listSessions.ts'
export {
  copySessions,
  type CopiedSessions,
  type CopyOptions,
  type CopyProgress,
} from '../packages/sessions/src/copySessions.ts'
export { searchSessions } from '../packages/sessions/src/searchSessions.ts'
export { listSessions } from '../packages/sessions/src/listSessions.ts'
export { loadSession, type LoadedSession } from '../packages/sessions/src/loadSession.ts'
export { forkSession, type ForkOptions } from '../packages/sessions/src/forkSession.ts'
export { deleteSession } from '../packages/sessions/src/deleteSession.ts'
export { exportSession } from './log/exportSession.ts'
export { importSession } from '../packages/sessions/src/importSession.ts'
export { LoggedRequests, requestsOf, type RequestOutcome } from '../packages/sessions/src/loggedRequests.ts'
export { readHistory, type History } from './log/readHistory.ts'

export { agentMachine } from './machines/agentMachine.ts'
export { supervisorMachine } from './machines/supervisorMachine.ts'
export type { RestartPolicy } from './machines/supervisorTypes.ts'
export type { AgentContext } from './machines/agentTypes.ts'
export type { AgentPolicy, QueueMode, RetryPolicy, ToolExecution } from './machines/agentPolicy.ts'

export type { ConversationView } from './conversation/tree/conversationView.ts'
export type { ConversationNode, Step } from './conversation/tree/node.ts'
export { rebuildConversation } from './conversation/tree/rebuildConversation.ts'
export { checkRequest, type CheckContext, type Violation } from './conversation/request/checkRequest.ts'
export type { CompactionPolicy } from './conversation/brakes/compaction/planCompaction.ts'
export { estimateTokens, type TokenCounter } from './conversation/limits/tokenCounter.ts'

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
export type { AgentCommand } from './protocol/bridge/commands.ts'
export type { Content } from './protocol/text/saidContent.ts'
export type { Clock } from './protocol/ports/clock.ts'
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
} from './protocol/ports/model.ts'
export type { ParentLink } from './protocol/parentLink.ts'
export { parseRecord } from './protocol/upgradeRecord.ts'
export { type ContextMessage, type QueuedMessage, type QueueName } from './protocol/runs/queue.ts'
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
export { type Limits } from './protocol/runs/runLimits.ts'
export type { Logger, LogLine } from './protocol/ports/logger.ts'
export type { Provenance, ProvenanceKind } from './protocol/provenance.ts'
export type { ModelSnapshot } from './protocol/ports/model.ts'
export type { UndoLedger } from './protocol/undo.ts'
export type { Checkpoint, CheckpointStore } from './protocol/ports/checkpoints.ts'
export type { SnapshotLimits, Snapshots, SnapshotStore } from './protocol/ports/snapshots.ts'
export {
  stored,
  type ErasableStore,
  type LogHolder,
  type LogWorker,
  type Store,
  type StoreLease,
} from './protocol/ports/store.ts'
export type { LogEntry, LogOrigin, LogPage, LogQuery } from './protocol/ports/logPages.ts'
export type { SearchHit, SearchQuery } from './protocol/ports/logSearch.ts'
export type { TracedAgent, TracedEffect, Tracer } from './protocol/ports/tracer.ts'
export type { RedactOptions } from './log/redaction/redactor.ts'
export { capturedRequests, type CapturedRequest, type TurnRequest } from './conversation/request/captureRequest.ts'

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
