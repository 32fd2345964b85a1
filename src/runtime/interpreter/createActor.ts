import { type AnyActorLogic, type AnyActorRef, createActor as createXStateActor, StateMachine } from 'xstate'
import type { EffectLogic } from '../../actors/effect.ts'
import type { ActorOptions, ActorRef } from './actorRef.ts'
import { EffectActor } from './effectActor.ts'
import { MachineActor } from './machineActor.ts'

const isEffect = (logic: object): logic is EffectLogic => 'run' in logic

/** Creates an actor as XState's `createActor` does, but machines and effects get this folder's lighter actors. */
export function createActor(
  logic: AnyActorLogic,
  options: Omit<ActorOptions, 'parent'> & { readonly parent?: AnyActorRef },
): AnyActorRef {
  const own = options as unknown as ActorOptions
  if (isEffect(logic)) return refOf(new EffectActor(logic, own))
  if (logic instanceof StateMachine) return refOf(new MachineActor(logic, own))
  return createXStateActor(logic, options)
}

const refOf = (actor: ActorRef): AnyActorRef => actor as unknown as AnyActorRef
