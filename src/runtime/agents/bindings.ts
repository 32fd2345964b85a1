import type { ErrorInfo } from '../../protocol/errors.ts'
import type { AgentListener } from '../events/observers.ts'
import type { AgentHost } from './agentHost.ts'

/** A listener of an agent, to be bound to its host. */
export interface Binding {
  bind(host: AgentHost): () => void
  readonly listener?: AgentListener
  readonly close?: (crash: ErrorInfo | null) => void
}

/** Listeners that were bound to an agent while it had no host. Empty until first used: most unloaded agents have no listeners. */
export class Bindings {
  #held: (Binding & { unbind?: () => void })[] | undefined

  /** Adds a binding; returns a function that ends it, before or after there is a host. */
  add(binding: Binding): () => void {
    const held = { ...binding } as Binding & { unbind?: () => void }
    this.#held ??= []
    this.#held.push(held)
    return () => {
      this.#held = this.#held?.filter((other) => other !== held)
      held.unbind?.()
    }
  }

  bindTo(host: AgentHost): void {
    for (const held of this.#held ?? []) held.unbind = held.bind(host)
  }

  get listeners(): readonly AgentListener[] {
    return (this.#held ?? []).flatMap(({ listener }) => listener ?? [])
  }

  /** Tells listeners, once, that the agent has ended. */
  close(): void {
    const held = this.#held ?? []
    this.#held = undefined
    for (const { close } of held) close?.(null)
  }
}
