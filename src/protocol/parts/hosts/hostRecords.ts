import { z } from 'zod'
import { errorInfoSchema } from '../../errorInfo.ts'
import { agentIdSchema } from '../../ids.ts'
import { lazily } from '../../lazily.ts'
import { base, count } from '../../recordShapes.ts'

const eventSchema = lazily(() => z.looseObject({ type: z.string() }))

/** A delayed event that is still pending. `to` is the child that receives it; if missing, the machine itself does. */
export const hostTimerSchema = lazily(() =>
  z.object({ id: z.string(), event: eventSchema(), to: z.string().exactOptional(), due: z.int() }),
)
export type HostTimer = z.infer<ReturnType<typeof hostTimerSchema>>

/** Records of an application's machine that has a log of its own. Such a log has no other records. */
export const hostRecords = {
  'host.created': () =>
    z.object({
      ...base(),
      type: z.literal('host.created'),
      hostId: agentIdSchema(),
      /** Name by which the machine is found again. */
      machine: z.string(),
      version: z.string().exactOptional(),
      input: z.unknown().exactOptional(),
    }),
  /** An event for the machine. */
  'host.event': () =>
    z.object({
      ...base(),
      type: z.literal('host.event'),
      event: eventSchema(),
      /** Id of the request that sent the event. A request is carried out once. */
      requestId: z.string().exactOptional(),
      /** The child that sent the event. */
      from: z.string().exactOptional(),
      /** Id of the delayed event that came due. */
      timer: z.string().exactOptional(),
      /** The child that receives the event instead of the machine. */
      to: z.string().exactOptional(),
    }),
  /** The completion of the actions of all events up to `upto`. */
  'host.step': () =>
    z.object({
      ...base(),
      type: z.literal('host.step'),
      upto: count(),
      /** Fingerprint of the state after that event. */
      print: z.string(),
      /** Delayed events that the event started, and ids of the ones that it canceled. */
      set: z.array(hostTimerSchema()).readonly().exactOptional(),
      cleared: z.array(z.string()).readonly().exactOptional(),
    }),
  /** The start of a durable effect. */
  'host.effect.start': () =>
    z.object({
      ...base(),
      type: z.literal('host.effect.start'),
      key: z.string(),
      actor: z.string(),
      effects: z.enum(['none', 'idempotent', 'irreversible']),
    }),
  /** The result of a durable effect. The machine receives it as an event. */
  'host.effect.end': () =>
    z.object({
      ...base(),
      type: z.literal('host.effect.end'),
      key: z.string(),
      actor: z.string(),
      output: z.unknown().exactOptional(),
      error: errorInfoSchema().exactOptional(),
    }),
  /** The state after all events up to `upto`. */
  'host.snapshot': () =>
    z.object({
      ...base(),
      type: z.literal('host.snapshot'),
      upto: count(),
      machine: z.string(),
      version: z.string().exactOptional(),
      snapshot: z.looseObject({}),
    }),
  /** The end or failure of the machine. */
  'host.done': () =>
    z.object({
      ...base(),
      type: z.literal('host.done'),
      output: z.unknown().exactOptional(),
      error: errorInfoSchema().exactOptional(),
    }),
} as const
