"""A server of NCCL's RAS protocol (NCCL, src/ras/client_support.cc), and what truerail reads from it on this machine.

python -m tests.ras_server ANSWER   in a network of its own: the port is RAS' own. Prints a JSON object for each mode.
"""

import asyncio
import json
import sys
from pathlib import Path

from collector import collectors
from truerail.errors import TransportError, UnreadableError
from truerail.model import Device, Target
from truerail.model.platforms import NCCL
from truerail.transport.fleet_transport import LOCAL, Routes

PORT = 28028
MODES = ("json", "text", "cut", "silent", "closes", "away")
COMMAND = collectors()["nccl_ras"].ask[0].text


class FakeRas:
    """One process of a job. `commands` are what clients sent."""

    def __init__(self, mode: str, answers: Path) -> None:
        self.mode, self.commands = mode, list[str]()
        self._json = (answers / "json-counts" / "answer.txt").read_bytes()
        self._text = (answers / "text-mismatch" / "answer.txt").read_bytes()

    async def talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """A client. One that ends its side first gets nothing, as the server takes that for its end."""
        chosen = b"text"
        while line := (await reader.readline()).decode().strip():
            self.commands.append(line)
            words = line.lower()
            if self.mode == "closes":
                break
            if words.startswith("client protocol "):
                writer.write(b"SERVER PROTOCOL 2\n")
            elif words.startswith("timeout "):
                writer.write(b"OK\n")
            elif words == "set format json" and self.mode != "text":
                chosen = b"json"
                writer.write(b"OK\n")
            elif words == "status" and self.mode == "silent":
                continue
            elif words == "status":
                whole = self._json if chosen == b"json" else self._text
                writer.write(whole[: len(whole) // 2] if self.mode == "cut" else whole)
                break
            else:
                writer.write(f"ERROR: Unknown command {line}\n".encode())
        writer.close()


async def asked(mode: str, answers: Path) -> dict[str, object]:
    """What the collector reads, or why it does not."""
    fake = FakeRas(mode, answers)
    server = None if mode == "away" else await asyncio.start_server(fake.talk, "127.0.0.1", PORT)
    transport = Routes()
    target = Target("nccl-gpu-001", LOCAL, platform=NCCL, timeout_seconds=2.0 if mode == "silent" else 30.0)
    try:
        (answer,) = await transport.ask(target, [COMMAND])
        facts = collectors()["nccl_ras"].read(answer.text, Device(target.name)) if not answer.error else ()
        return {"facts": [repr(fact) for fact in facts], "error": answer.error, "commands": fake.commands}
    except (TransportError, UnreadableError) as error:
        return {"facts": [], "error": f"{type(error).__name__}: {error}", "commands": fake.commands}
    finally:
        await transport.close()
        if server is not None:
            server.close()


async def main(answers: Path) -> None:
    """Asks in each mode, one after the other."""
    for mode in MODES:
        print(json.dumps({"mode": mode, **await asked(mode, answers)}), flush=True)  # noqa: T201 - the test reads it


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
