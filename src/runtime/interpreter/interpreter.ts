import { type AnyActorLogic, type AnyActorRef, type AnyStateMachine, createActor as createXStateActor } from 'xstate'
import { createActor, plannedMachine } from './step.ts'

/** Runs statecharts. */
export interface Interpreter {
  /** Prepares a machine, after `provide`, for `createActor`. */
  prepare<Machine extends AnyStateMachine>(machine: Machine): Machine
  createActor(
    logic: AnyActorLogic,
    options: { readonly id: string; readonly systemId?: string; readonly input: unknown },
  ): AnyActorRef
}

export const xstateInterpreter: Interpreter = { prepare: (machine) => machine, createActor: createXStateActor }

export const plannedInterpreter: Interpreter = { prepare: plannedMachine, createActor }
