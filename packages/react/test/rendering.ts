import { createElement, StrictMode, type ReactNode } from 'react'
import { create, type ReactTestRenderer } from 'react-test-renderer'
import { WebSocket } from 'ws'
import type { Client } from '../../../src/client.ts'
import { AgentProvider } from '../../../src/react.ts'
import { quiet } from '../../../test/support/agentHarness.ts'
import { assert, type CaseContext } from '../../../test/support/suite.ts'

const here = globalThis as { IS_REACT_ACT_ENVIRONMENT?: boolean }

/** Warnings about this way to test, and about a process that renders for servers too. */
const ofTests = /^(react-test-renderer is deprecated|Detected multiple renderers)/

/** Components on the screen. */
export interface Rendering {
  readonly tree: ReactTestRenderer
  /** Draws something else below the same provider. */
  show(children: ReactNode): void
  /** Lets time go by until this holds. */
  until(holds: () => boolean): Promise<void>
  /** All text, one line an element that has some. */
  text(): string
}

interface RenderOptions {
  readonly strict?: boolean
}

/** Renders below a provider, until the end of the case. What React complains of fails the case. */
export async function render(
  { cleanup, signal }: CaseContext,
  client: Client | null,
  children: ReactNode,
  { strict = false }: RenderOptions = {},
): Promise<Rendering> {
  const complaints: unknown[] = []
  const { error } = console
  console.error = (...said) => {
    if (!ofTests.test(String(said[0]))) complaints.push(said)
  }
  const all = (below: ReactNode) => {
    const provider = createElement(AgentProvider, { client }, below)
    return strict ? createElement(StrictMode, null, provider) : provider
  }
  // Updates come from a socket, and are drawn when React gets to it.
  const { IS_REACT_ACT_ENVIRONMENT: before = false } = here
  here.IS_REACT_ACT_ENVIRONMENT = false
  const tree = create(all(children))
  cleanup(async () => {
    tree.unmount()
    await quiet()
    console.error = error
    here.IS_REACT_ACT_ENVIRONMENT = before
    assert.equal(complaints, [], 'what React complains of')
  })
  await quiet()
  return {
    tree,
    show: (below) => tree.update(all(below)),
    async until(holds) {
      while (!holds()) {
        signal.throwIfAborted()
        await quiet()
      }
    },
    text: () => linesOf(tree.toJSON()).join('\n'),
  }
}

type Drawn = ReturnType<ReactTestRenderer['toJSON']> | string

function linesOf(drawn: Drawn): string[] {
  if (drawn === null) return []
  if (typeof drawn === 'string') return [drawn]
  if (Array.isArray(drawn)) return (drawn as Drawn[]).flatMap(linesOf)
  const children = drawn.children ?? []
  const texts = children.filter((child) => typeof child === 'string')
  const elements = children.filter((child) => typeof child !== 'string')
  return [...(texts.length === 0 ? [] : [texts.join('')]), ...elements.flatMap(linesOf)]
}

/** A WebSocket that notes the frames it sends, by type. */
export function notingSocket(): { readonly webSocket: typeof WebSocket; readonly sent: string[] } {
  const sent: string[] = []
  class Noting extends WebSocket {
    override send(data: string): void {
      const frames = [JSON.parse(data)].flat() as { type: string }[]
      sent.push(...frames.map(({ type }) => type))
      super.send(data)
    }
  }
  return { webSocket: Noting, sent }
}
