import { z } from 'zod'
import { lazily } from './lazily.ts'
import { brakeRecords } from './brakes/brakeSchemas.ts'
import { stallSchema, type Overlay, type TellingReverts } from './braking.ts'
import { approvalDecisionShape, approvalRequestShape, toolStartShape } from './callRecords.ts'
import { pricesSchema } from './economics.ts'
import { errorInfoSchema } from './errorInfo.ts'
import { guardVerdictSchema, refusalSchema } from './guarding.ts'
import { parentSchema } from './parentLink.ts'
import { resultDataShape } from './resultData.ts'
import { agentIdSchema, nodeIdSchema } from './ids.ts'
import { base, count, inTurn, placed, recordVersion } from './recordShapes.ts'
import {
  assistantMessageSchema,
  blockSchema,
  toolResultMessageSchema,
  usageSchema,
  userMessageSchema,
} from './messages.ts'
import { metadataSchema } from './metadata.ts'
import { modelSnapshotSchema, refusedPartSchema, requestMessageSchema, toolSpecSchema } from './ports/model.ts'
import { partRecords } from './parts/partRecords.ts'
import { provenanceSchema } from './provenance.ts'
import { answerSchema, questionSchema } from './questions.ts'
import { toolsChangeSchema } from './toolsChange.ts'
import { queuedMessageSchema, queueNameSchema } from './runs/queue.ts'
import { limitsSchema } from './runs/runLimits.ts'
import { limitReasonSchema, preparedTurnSchema, turnUseSchema } from './bridge/turns.ts'
import { variants } from './bridge/variants.ts'

export type { Overlay }
export { recordVersion }

/** Reason for a pause. If several limits apply, the one that was reached first. */
export const pauseReasonSchema = lazily(() =>
  z.discriminatedUnion('type', [
    limitReasonSchema(),
    z.object({ type: z.literal('approvals'), callIds: z.array(z.string()).readonly() }),
    /** Calls that sleep. The first wakes at `until`, and the run then continues by itself. */
    z.object({ type: z.literal('timer'), until: z.number() }),
    z.object({ type: z.literal('store'), error: errorInfoSchema() }),
    /** A stall: the agent went in circles. The preceding `stall.detected` record has the steps. */
    z.object({ type: z.literal('stall'), ...stallSchema().omit({ steps: true }).shape }),
    /** The end of the process in the middle of the run. With `limit`, that limit had been reached, and the run was about to give its last answer. */
    z.object({ type: z.literal('interrupted'), limit: limitReasonSchema().exactOptional() }),
  ]),
)
export type PauseReason = z.infer<ReturnType<typeof pauseReasonSchema>>

/** Usage of a sub-agent, including its own sub-agents. */
export const spentSchema = lazily(() => z.object({ usage: usageSchema(), costUsd: z.number(), turns: count() }))
export type Spent = z.infer<ReturnType<typeof spentSchema>>

export const runStopReasonSchema = lazily(() => z.enum(['stop', 'length', 'refusal', 'paused', 'aborted', 'error']))
export type RunStopReason = z.infer<ReturnType<typeof runStopReasonSchema>>

/** A record: one line of the log. Each record is also an event: see `events.ts`. */
export const logRecords = variants({
  'agent.created': () =>
    z.object({
      ...base(),
      type: z.literal('agent.created'),
      agentId: agentIdSchema(),
      /** Ids of the ancestors, root first. */
      path: z.array(z.string()).readonly(),
      definition: z.string(),
      model: z.string(),
      /** Id of the statechart, which carries its version. */
      machine: z.string(),
      /** The agent that called or spawned this one. */
      parent: parentSchema().exactOptional(),
      /** Source of a fork, which shares the log of another agent up to and including record `seq`, when node `at` was the newest. */
      forkedFrom: z.object({ agentId: agentIdSchema(), seq: z.int().positive(), at: nodeIdSchema() }).exactOptional(),
      /** The source's title for lists, for a fork that continues the subject of its source. */
      title: z.string().exactOptional(),
      /** Metadata that the application attached to the agent for good. Sub-agents and forks inherit it. */
      metadata: metadataSchema().exactOptional(),
      /** Number of following records that are imported messages from another system. */
      imported: count().exactOptional(),
    }),
  'run.start': () =>
    z.object({
      ...inTurn(),
      type: z.literal('run.start'),
      cause: z.enum(['prompt', 'steering', 'followUp', 'resume']),
      /** Id of the command that asked for the run. */
      requestId: z.string(),
      /** Number of messages that begin the run, if more than one: its context messages come first. */
      messages: count().exactOptional(),
      /** The paused run that this one continues. */
      resumedFrom: z.string().exactOptional(),
      limits: limitsSchema(),
      /** Limits from the run's prompt. A run that continues this one keeps them unless it gets others. */
      given: limitsSchema().exactOptional(),
      /** Model and settings at the start of the run. */
      model: modelSnapshotSchema().exactOptional(),
    }),
  'run.end': () =>
    z.object({
      ...inTurn(),
      type: z.literal('run.end'),
      stopReason: runStopReasonSchema(),
      /** Id of the command that aborted the run, if it came over a wire. */
      requestId: z.string().exactOptional(),
      /** Turns of the run itself, excluding sub-agents. */
      turns: count(),
      /** Turns of sub-agents that the run's calls used. They count against the run's limit too. */
      childTurns: count().exactOptional(),
      /** Usage of the run and of the sub-agents that its calls used. */
      usage: usageSchema(),
      costUsd: z.number(),
      /** Reason for a pause; or the limit after which the run gave its last answer. */
      reason: pauseReasonSchema().exactOptional(),
      /** Unused limits of an interrupted run. A run that continues it gets them. */
      left: limitsSchema().exactOptional(),
      /** Refusal of a guard. Set with `refusal`, unless the model itself refused. */
      refusal: refusalSchema().exactOptional(),
      /** Calls whose sub-agents were stopped by the run's limit, with their usage in this run. `resume` continues them. */
      unfinished: z
        .array(z.object({ callId: z.string(), spent: spentSchema() }))
        .readonly()
        .exactOptional(),
      error: errorInfoSchema().exactOptional(),
      /** The call whose result ended the run. */
      endedBy: z.object({ callId: z.string(), name: z.string() }).exactOptional(),
    }),
  /** The abandonment of a paused run by an abort. `resume` does not continue it. */
  'run.abandoned': () => z.object({ ...inTurn(), type: z.literal('run.abandoned') }),
  'turn.start': () => z.object({ ...inTurn(), type: z.literal('turn.start') }),
  /** A change in the tools that sources offer the agent. */
  'tools.changed': () => z.object({ ...inTurn(), type: z.literal('tools.changed'), ...toolsChangeSchema().shape }),
  /** Parameters of the turn, where they differ from the definition. */
  'turn.prepared': () => z.object({ ...inTurn(), type: z.literal('turn.prepared'), ...preparedTurnSchema().shape }),
  /** Values for the agent to use from the next turn on; `null` means those of its definition. */
  'use.changed': () =>
    z.object({ ...inTurn(), type: z.literal('use.changed'), requestId: z.string(), use: turnUseSchema().nullable() }),
  /** The request of the turn, as a difference from the previous captured one. Only with `captureTurnRequests`. */
  'turn.captured': () =>
    z.object({
      ...inTurn(),
      type: z.literal('turn.captured'),
      attempt: z.int().positive(),
      model: z.string(),
      /** Changes in parts that rarely change. The first capture has all of them. */
      system: z.string().exactOptional(),
      tools: z.array(toolSpecSchema()).readonly().exactOptional(),
      settings: z.record(z.string(), z.unknown()).readonly().exactOptional(),
      /** Number of leading messages that are the same as in the previous request. */
      kept: count(),
      /** Messages after the kept ones. */
      messages: z.array(requestMessageSchema()).readonly(),
      /** Provenance of the messages after the kept ones. */
      provenance: z.array(provenanceSchema()).readonly(),
    }),
  'turn.end': () => z.object({ ...inTurn(), type: z.literal('turn.end'), usage: usageSchema(), costUsd: z.number() }),
  'message.added': () =>
    z.object({ ...inTurn(), ...placed(), type: z.literal('message.added'), message: userMessageSchema() }),
  'reply.end': () =>
    z.object({
      ...inTurn(),
      ...placed(),
      type: z.literal('reply.end'),
      message: assistantMessageSchema(),
      /** The original content of an answer that a guard refused; `message` has a line in its place. */
      withheld: z.object({ ...refusalSchema().shape, content: z.array(blockSchema()).readonly() }).exactOptional(),
      /** Set if the reply's text is an answer that matches the agent's output schema. */
      answer: z.literal(true).exactOptional(),
      costUsd: z.number(),
      /** Estimate of the token counter for the request, before correction; 0 when unknown. */
      estimatedTokens: count(),
      /** The model's context window in tokens, if the definition differs from the usual one. */
      window: z.int().positive().exactOptional(),
      /** Prices of the model that answered, in US dollars per million tokens, if they are known. */
      prices: pricesSchema().exactOptional(),
    }),
  'reply.reset': () =>
    z.object({
      ...inTurn(),
      type: z.literal('reply.reset'),
      attempt: z.int().positive(),
      error: errorInfoSchema(),
      /** Usage of a reply that arrived but could not be used. */
      usage: usageSchema().exactOptional(),
      costUsd: z.number().exactOptional(),
      /** Note about that reply in the next request. It is shown after the trunk until the model has answered. */
      repair: z.string().exactOptional(),
      /** The model that is asked next, at once, instead of the failed one. */
      next: z.string().exactOptional(),
      /** The part that the provider refused. It is left out from here on, and the request is repeated immediately. */
      without: refusedPartSchema().exactOptional(),
      /** Start of the next attempt, in epoch milliseconds; missing if there is none or it starts at once. */
      retryAt: z.number().exactOptional(),
    }),
  'tool.start': () => z.object({ ...inTurn(), type: z.literal('tool.start'), ...toolStartShape() }),
  'tool.end': () =>
    z.object({
      ...inTurn(),
      ...placed(),
      type: z.literal('tool.end'),
      callId: z.string(),
      key: z.string(),
      name: z.string(),
      message: toolResultMessageSchema(),
      ...resultDataShape(),
      /**
       * Effect of a hook. With `beforeTool` the call was not run: it was `denied` or `answered`, or the hook came to no decision
       * (`unchecked`). With `afterTool` the tool's own result was `replaced`, or `withheld` because the hook came to no decision.
       */
      hook: z.enum(['denied', 'answered', 'unchecked', 'replaced', 'withheld']).exactOptional(),
      /** Usage of a sub-agent. It is part of the run's usage and counts against its limits. */
      spent: spentSchema().exactOptional(),
      /** Set if a client carried out or refused the call. Has the id of its command if that came over a wire. */
      returned: z.object({ requestId: z.string().exactOptional() }).exactOptional(),
      /** Name of the definition that answers from the next turn on: the model handed the conversation over. */
      handoff: z.string().exactOptional(),
      /** Ids of waiting messages that this result contains. They are no longer in the queue. */
      delivers: z.array(z.string()).readonly().exactOptional(),
    }),
  /** The spawn of a child that runs alongside the agent, by code or by a running call. */
  'child.spawned': () =>
    z.object({
      ...inTurn(),
      type: z.literal('child.spawned'),
      childId: agentIdSchema(),
      definition: z.string(),
      /** Set for an incognito child, which has no log: only this record and the child's usage are kept. */
      incognito: z.literal(true).exactOptional(),
    }),
  'child.ended': () =>
    z.object({
      ...inTurn(),
      type: z.literal('child.ended'),
      childId: agentIdSchema(),
      /** Set if a call in the current run started the child. Its usage is then part of the run's. */
      inRun: z.literal(true).exactOptional(),
      /** Error, if the child did not end on its own. */
      error: errorInfoSchema().exactOptional(),
      spent: spentSchema(),
    }),
  'approval.requested': () =>
    z.object({
      ...inTurn(),
      type: z.literal('approval.requested'),
      ...approvalRequestShape(),
    }),
  'approval.decided': () =>
    z.object({
      ...inTurn(),
      type: z.literal('approval.decided'),
      ...approvalDecisionShape(),
    }),
  /** A question from a tool to people. Its call waits for the answer. */
  'question.asked': () =>
    z.object({
      ...inTurn(),
      type: z.literal('question.asked'),
      /** Id of the call, if it runs in the background. No run then waits for the answer. */
      background: z.string().exactOptional(),
      callId: z.string(),
      name: z.string(),
      input: z.unknown(),
      ...questionSchema().shape,
    }),
  'question.answered': () =>
    z.object({
      ...inTurn(),
      type: z.literal('question.answered'),
      background: z.string().exactOptional(),
      callId: z.string(),
      /** Key of the question. */
      key: z.string(),
      ...answerSchema().shape,
      /** Set if the process that asked is gone. The call then runs again from its start, with the answers so far. */
      again: z.literal(true).exactOptional(),
      /** Id of the command with the answer, if it came over a wire. */
      requestId: z.string().exactOptional(),
    }),
  /** A request to a client to carry out the call and return its result. */
  'call.requested': () =>
    z.object({
      ...inTurn(),
      type: z.literal('call.requested'),
      callId: z.string(),
      /** Key of the call, unique across all agents. The command with the result names it. */
      key: z.string(),
      name: z.string(),
      input: z.unknown(),
    }),
  'queue.changed': () =>
    z.object({
      ...inTurn(),
      type: z.literal('queue.changed'),
      queue: queueNameSchema(),
      added: queuedMessageSchema().exactOptional(),
      /** Set if the message went to the front. */
      first: z.literal(true).exactOptional(),
      /** Ids of messages that left the queue. */
      removed: z.array(z.string()).readonly().exactOptional(),
      /** Reason for the removal. `taken`: they became messages. `dropped`: an abort or a stop cleared them. */
      why: z.enum(['taken', 'dropped']).exactOptional(),
      length: count(),
    }),
  /** Verdict of an agent's guards: on people's messages, beside the first request after them; on an answer, before its `reply.end`. */
  'guard.decided': () => z.object({ ...inTurn(), type: z.literal('guard.decided'), ...guardVerdictSchema().shape }),
  ...brakeRecords,
  ...partRecords,
  'agent.stopped': () => z.object({ ...base(), type: z.literal('agent.stopped') }),
})
/** Returns the schema of a log line of this version, built on first use. */
export const logRecordSchema = logRecords.schema
export type LogRecord = TellingReverts<z.infer<ReturnType<typeof logRecordSchema>>>

export type RecordOf<T extends LogRecord['type']> = Extract<LogRecord, { type: T }>

type WithoutTime<R> = R extends unknown ? Omit<R, 'time'> : never

/** A record as the machine makes it, without the time, which the log's writer adds. */
export type RecordDraft = WithoutTime<LogRecord>
