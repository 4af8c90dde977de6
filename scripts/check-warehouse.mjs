import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startEmbeddedPostgres } from '../dist/src/dev/postgres.js';
import { stopServer } from '../dist/src/dev/server.js';
import { sampleExport } from '../dist/src/sandbox/sample-export.js';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Calls `work` with an empty warehouse of its own, and removes the warehouse afterwards. */
export async function withCheckWarehouse(work) {
  const directory = mkdtempSync(join(tmpdir(), 'enrich-check-'));
  const server = join(directory, 'postgres');
  try {
    const { databaseUrl } = await startEmbeddedPostgres({ directory: server });
    const environment = {
      ...process.env,
      DATABASE_URL: databaseUrl,
      // Commands use another folder than the server: a command stops the server in its own folder when it ends.
      ENRICH_DATA_DIR: join(directory, 'data'),
    };
    const sample = (seed) => {
      const file = join(directory, `contacts-${seed}.csv`);
      writeFileSync(file, [...sampleExport({ people: 60, seed })].join(''));
      return file;
    };
    const enrich = (parameters, { exitCode = 0, ...settings } = {}) =>
      run(process.execPath, [join(root, 'dist/cli/main.js'), ...parameters], {
        environment: { ...environment, ...settings },
        exitCode,
      });
    await work({ directory, databaseUrl, environment, sample, enrich });
  } finally {
    await stopServer(server);
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Runs a program in the project's folder. Its output appears in the output of this process. */
export async function run(program, parameters, { environment = process.env, exitCode = 0 } = {}) {
  const child = spawn(program, parameters, { cwd: root, env: environment, stdio: 'inherit' });
  const code = await new Promise((ended, failed) => child.on('error', failed).on('close', ended));
  if (code !== exitCode) throw new Error(`${parameters.join(' ')} ended with exit code ${code}`);
}
