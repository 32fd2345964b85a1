import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { counted } from '../../../../../charts/src/amounts.ts'
import type { Artifact } from '../../../../../../src/protocol/artifacts/artifact.ts'
import { artifactName } from '../../../../../../src/protocol/artifacts/artifactNames.ts'
import { artifactKind, fileNameOf, isShownInPlace, type ArtifactReader } from '../../model/artifacts/artifactReader.ts'
import { formatBytes } from '../../model/words/numbers.ts'
import { forDisplay } from '../../model/words/shortText.ts'
import { ControlButton } from '../../parts/controlButton.tsx'
import { stopping } from '../../parts/stopping.ts'

export interface ArtifactsProps {
  readonly artifacts: readonly Artifact[]
  /** Reader of artifacts; `null` if they are named, but cannot be read. */
  readonly reader: ArtifactReader | null
  /** True if pictures are shown in their place; otherwise they are opened. */
  readonly showsPictures: boolean
}

/** Artifacts of a result: name, size and type, and ways to open and save each. */
export function Artifacts({ artifacts, reader, showsPictures }: ArtifactsProps): JSX.Element {
  return (
    <ul class="artifacts" aria-label="Kept whole">
      {artifacts.map((artifact, index) => (
        <li key={`${artifact.id} ${index}`} class="artifact">
          <span class="artifact-name mono" title={artifactName(artifact)}>
            {forDisplay(artifact.name ?? artifactName(artifact))}
          </span>
          <span class="muted">
            {formatBytes(artifact.bytes)}, {artifact.mimeType}
            {artifact.lost === undefined ? '' : `, without ${counted(artifact.lost, 'character')} of its middle`}
          </span>
          {reader !== null && <Actions reader={reader} artifact={artifact} showsPicture={showsPictures} />}
        </li>
      ))}
    </ul>
  )
}

interface ActionsProps {
  readonly reader: ArtifactReader
  readonly artifact: Artifact
  readonly showsPicture: boolean
}

function Actions({ reader, artifact, showsPicture }: ActionsProps): JSX.Element {
  const [said, setSaid] = useState('')
  const [isReading, setReading] = useState(false)
  const reading = useRef<AbortController | null>(null)
  useEffect(() => () => reading.current?.abort(), [])
  const name = fileNameOf(artifact)
  const isOther = artifactKind(artifact) === 'other'

  const use = (act: (blob: Blob) => string): void => {
    if (reading.current !== null) return
    const controller = (reading.current = new AbortController())
    const { signal } = controller
    setReading(true)
    setSaid('')
    const end = (text: string): void => {
      if (reading.current === controller) reading.current = null
      setReading(false)
      setSaid(text)
    }
    reader.read(artifact, signal).then(
      (blob) => end(signal.aborted ? '' : act(blob)),
      (thrown: unknown) => end(signal.aborted ? '' : (thrown as Error).message),
    )
  }
  const open = (): void =>
    use((blob) => (reader.ports.open(blob) ? '' : 'It is here, and the browser wants to be asked again: press Open.'))
  const save = (): void =>
    use((blob) => {
      reader.ports.save(blob, name)
      return ''
    })
  return (
    <>
      <span class="artifact-actions" onClick={stopping(() => {})}>
        <ControlButton
          why={isOther ? 'Only text and pictures can be opened. Save it.' : null}
          onUse={open}
          label={`Open ${name} in a new tab`}
          kind="quiet"
        >
          Open
        </ControlButton>
        <ControlButton why={null} onUse={save} label={`Save ${name}`} kind="quiet">
          Save
        </ControlButton>
        {isReading && (
          <ControlButton
            why={null}
            onUse={() => reading.current?.abort()}
            label={`Cancel reading ${name}`}
            kind="quiet"
          >
            Cancel
          </ControlButton>
        )}
      </span>
      <span class="artifact-said" role="status">
        {isReading ? 'Reading it …' : said}
      </span>
      {showsPicture && isShownInPlace(artifact) && <Picture reader={reader} artifact={artifact} />}
    </>
  )
}

/** A kept picture, read when it is drawn. */
function Picture({ reader, artifact }: Omit<ActionsProps, 'showsPicture'>): JSX.Element | null {
  const [address, setAddress] = useState<string | null>(null)
  const [why, setWhy] = useState('')
  useEffect(() => {
    const controller = new AbortController()
    const { signal } = controller
    let made: string | undefined
    reader.read(artifact, signal).then(
      (blob) => {
        if (!signal.aborted) setAddress((made = reader.ports.address(blob)))
      },
      (thrown: unknown) => {
        if (!signal.aborted) setWhy((thrown as Error).message)
      },
    )
    return () => {
      controller.abort()
      if (made !== undefined) reader.ports.release(made)
    }
  }, [reader, artifact.agentId, artifact.id])
  if (address === null) return why === '' ? null : <span class="artifact-said">The picture is not shown. {why}</span>
  return (
    <span class="conversation-images artifact-picture">
      <img
        src={address}
        alt={`Kept picture (${artifact.mimeType})`}
        onError={() => {
          setAddress(null)
          setWhy('It is damaged.')
        }}
      />
    </span>
  )
}
