import type { ComponentChildren, JSX } from 'preact'
import { useMemo } from 'preact/hooks'
import type { ModelSettings, ToolSpec } from '../../../../../../src/protocol/ports/model.ts'
import { lineDiff } from '../../../../../charts/src/text/lineDiff.ts'
import { jsonOf, oneLine } from '../../model/words/shortText.ts'
import { DiffView } from '../../parts/diffView.tsx'
import { JsonText, LongText } from '../../parts/longText.tsx'

interface PartProps {
  readonly title: string
  readonly aside: string
  readonly isChanged: boolean
  readonly children: ComponentChildren
}

function Part({ title, aside, isChanged, children }: PartProps): JSX.Element {
  return (
    // What changed is what one looks for.
    <details class="request-part" open={isChanged}>
      <summary>
        <span class="request-part-title">{title}</span>
        {isChanged && <span class="badge warn">changed</span>}
        <span class="muted cut">{aside}</span>
      </summary>
      <div class="request-part-body">{children}</div>
    </details>
  )
}

/** Length of both texts together above which they are not compared, in UTF-16 units. */
const mostCompared = 2_000_000

export interface SystemPartProps {
  readonly system: string
  /** System prompt of the request before. */
  readonly old: string | undefined
}

/** The system prompt, and its changes. */
export function SystemPart({ system, old = system }: SystemPartProps): JSX.Element {
  const isChanged = old !== system
  const diff = useMemo(
    () => (isChanged && old.length + system.length <= mostCompared ? lineDiff(old, system) : undefined),
    [old, system],
  )
  return (
    <Part title="System" aside={system === '' ? 'empty' : oneLine(system)} isChanged={isChanged}>
      {diff === undefined ? (
        <LongText text={system} lines={40} chars={6_000} />
      ) : (
        <>
          <DiffView edit={{ type: 'edit', path: 'system prompt', diff, endings: [] }} />
          <details class="request-tool">
            <summary>All of it</summary>
            <LongText text={system} lines={40} chars={6_000} />
          </details>
        </>
      )}
    </Part>
  )
}

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)

export interface ToolsPartProps {
  readonly tools: readonly ToolSpec[]
  /** Tools of the request before. */
  readonly old: readonly ToolSpec[] | undefined
}

/** The tools, each with its parameters. */
export function ToolsPart({ tools, old }: ToolsPartProps): JSX.Element {
  const names = tools.map(({ name }) => name).join(', ')
  return (
    <Part title={`Tools (${tools.length})`} aside={names} isChanged={old !== undefined && !isSame(old, tools)}>
      {tools.map((tool) => {
        const before = old?.find(({ name }) => name === tool.name)
        const mark = old === undefined || isSame(before, tool) ? undefined : before === undefined ? 'new' : 'changed'
        return (
          <details key={tool.name} class="request-tool">
            <summary>
              <span class="mono request-tool-name">{tool.name}</span>
              {mark !== undefined && <span class="badge accent">{mark}</span>}
              <span class="muted cut">{oneLine(tool.description)}</span>
            </summary>
            <LongText text={tool.description} />
            <JsonText value={tool.inputSchema} lines={40} chars={6_000} />
          </details>
        )
      })}
    </Part>
  )
}

export interface SettingsPartProps {
  readonly settings: ModelSettings
  readonly old: ModelSettings | undefined
}

/** The settings of the call. */
export const SettingsPart = ({ settings, old }: SettingsPartProps): JSX.Element => {
  const isEmpty = Object.keys(settings).length === 0
  return (
    <Part
      title="Settings"
      aside={isEmpty ? 'provider default' : oneLine(jsonOf(settings))}
      isChanged={old !== undefined && !isSame(old, settings)}
    >
      <JsonText value={settings} />
    </Part>
  )
}
