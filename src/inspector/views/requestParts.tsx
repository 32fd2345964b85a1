import type { ComponentChildren, JSX } from 'preact'
import type { ModelSettings, ToolSpec } from '../../protocol/model.ts'
import { jsonOf, oneLine } from '../model/shortText.ts'
import { JsonText, LongText } from './longText.tsx'

interface PartProps {
  readonly title: string
  readonly aside: string
  readonly isChanged: boolean
  readonly children: ComponentChildren
}

function Part({ title, aside, isChanged, children }: PartProps): JSX.Element {
  return (
    <details class="request-part">
      <summary>
        <span class="request-part-title">{title}</span>
        {isChanged && <span class="badge warn">changed</span>}
        <span class="muted cut">{aside}</span>
      </summary>
      <div class="request-part-body">{children}</div>
    </details>
  )
}

/** The system prompt. */
export const SystemPart = ({
  system,
  isChanged,
}: {
  readonly system: string
  readonly isChanged: boolean
}): JSX.Element => (
  <Part title="System" aside={system === '' ? 'empty' : oneLine(system)} isChanged={isChanged}>
    <LongText text={system} lines={40} chars={6_000} />
  </Part>
)

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)

export interface ToolsPartProps {
  readonly tools: readonly ToolSpec[]
  /** Those of the request before. */
  readonly old: readonly ToolSpec[] | undefined
}

/** The tools, each with what it takes. */
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
      aside={isEmpty ? "the provider's own" : oneLine(jsonOf(settings))}
      isChanged={old !== undefined && !isSame(old, settings)}
    >
      <JsonText value={settings} />
    </Part>
  )
}
