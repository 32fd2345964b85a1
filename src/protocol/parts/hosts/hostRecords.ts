import { z } from 'zod'
import { errorInfoSchema } from '../../errorInfo.ts'
import { agentIdSchema } from '../../ids.ts'
import { lazily } from '../../lazily.ts'
import { base, count } from '../../recordShapes.ts'

const eventSchema = lazily(() => z.looseObject({ type: z.string() }))

/** A delayed event that has yet to come. `to`: the child that gets it; missing: the machine itself. */
export const hostTimerSchema = lazily(() =>
  z.object({ id: z.string(), event: eventSchema(), to: z.string().exactOptional(), due: z.int() }),
)
export type HostTimer = z.infer<ReturnType<typeof hostTimerSchema>>

/** The records of a machine of the application that has a log of its own. Such a log has no others. */
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
  /** The machine is given an event. */
  'host.event': () =>
    z.object({
      ...base(),
      type: z.literal('host.event'),
      event: eventSchema(),
      /** Id of the request that sent it, which is carried out once. */
      requestId: z.string().exactOptional(),
      /** The child that sent it. */
      from: z.string().exactOptional(),
      /** Id of the delayed event that it was. */
      timer: z.string().exactOptional(),
      /** The child that gets it instead of the machine. */
      to: z.string().exactOptional(),
    }),
  /** The actions of all events up to `upto` were carried out. */
  'host.step': () =>
    z.object({
      ...base(),
      type: z.literal('host.step'),
      upto: count(),
      /** Fingerprint of the state after that event. */
      print: z.string(),
      /** Delayed events that the event began, and ids of those that it cancelled. */
      set: z.array(hostTimerSchema()).readonly().exactOptional(),
      cleared: z.array(z.string()).readonly().exactOptional(),
    }),
  /** A durable effect begins. */
  'host.effect.start': () =>
    z.object({
      ...base(),
      type: z.literal('host.effect.start'),
      key: z.string(),
      actor: z.string(),
      effects: z.enum(['none', 'idempotent', 'irreversible']),
    }),
  /** A durable effect has its result, which the machine is given as an event. */
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
  /** The machine has come to its end, or failed. */
  'host.done': () =>
    z.object({
      ...base(),
      type: z.literal('host.done'),
      output: z.unknown().exactOptional(),
      error: errorInfoSchema().exactOptional(),
    }),
} as const
